"""Keep the bot's own comments on GitHub: one for each issue, one reply for each comment with commands (C2).

A comment is known by its row in the store *and* by its hidden marker. The row is claimed before GitHub is asked to
create anything. An attempt that ended without an answer may have succeeded, so the next one first waits until GitHub
must have finished with it and then looks for the marker, which counts only in comments that the bot wrote.

A machine can stand still for longer than its claim holds, just before its request is sent, and GitHub cannot be told to
refuse what comes late. So nothing counts as written before the row was seen to be unchanged after it: what another has
done meanwhile stands, and this attempt takes its own comment back, or has all of it looked at again.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from bot.errors import DoppelError, NotFound
from bot.model import Comment, RepoRef
from bot.posts.author import Ours
from bot.posts.record import LEASE, Draft, Record, Slot
from bot.store import Claim, CommentState
from bot.store.parts.comments import Comments
from bot.telemetry.metrics import COMMENT_SECONDS, COMMENTS
from bot.telemetry.work import current


class CommentApi(Protocol):
    """The operations on GitHub that are needed here."""

    def comments(self, repo: RepoRef, number: int, since: datetime | None = None) -> list[Comment]: ...

    def create_comment(self, repo: RepoRef, number: int, body: str) -> Comment: ...

    def update_comment(self, repo: RepoRef, comment_id: int, body: str) -> Comment: ...

    def delete_comment(self, repo: RepoRef, comment_id: int) -> None: ...


class CommentKeeper:
    """Writes comments so that no retry, crash, redelivery or second worker can make two of one."""

    def __init__(
        self, store: Comments, ours: Ours, clock: Callable[[], datetime], lease: float = LEASE, *, alone: bool = True
    ) -> None:
        """`ours` says whose comments are the bot's. `alone`: whoever else writes them shares this store, so that nobody
        can post at the same moment unseen.
        """
        self._store = store
        self.ours = ours
        self._clock = clock
        self._lease = lease
        self._alone = alone

    def keep(
        self,
        github: CommentApi,
        slot: Slot,
        draft: Draft,
        *,
        look: bool = False,
        create: bool = True,
        anew: bool = False,
    ) -> bool:
        """Make the slot's comment say what the draft says; False where a maintainer deleted it.

        `look`: search GitHub for a comment of ours even if the store knows of none: it may have come with a transfer,
        or the store may be new, or restored from before it was written. Without `create` a comment that there is is
        edited, and silence stays silence. `anew`: edit it even where it said so before, since it may be gone or
        somebody may have changed it unheard. Raises Retryable while another attempt is at the same comment.
        """
        record = self._record(slot)
        kept = record.kept()
        if kept is not None and kept.state is CommentState.DELETED:
            return False
        if kept is not None and kept.comment_id is not None:
            said = "" if anew else kept.body_hash
            return self._edit(github, record, draft, kept.comment_id, said, kept.updated_at)
        # Who goes on being silent need not look again each time, though the record may be of a backup.
        look = look and (create or kept is None or kept.state is CommentState.INTENDED)
        if not create and not look and (kept is None or kept.state is CommentState.SILENT):
            record.answer_silently(draft.text_hash, draft.shown)
            COMMENTS.labels("silent").inc()
            return True
        claim, since = record.claim()
        if claim is Claim.SETTLED:
            # Somebody else has just finished it; the second look finds their comment.
            return self.keep(github, slot, draft, create=create, anew=anew)
        with record.held(since):
            own = self._find(github, slot) if look or claim is Claim.DOUBTFUL else None
        if own is not None:
            # Until the edit has succeeded it counts as an answer to nothing.
            found = record.settle_claimed(replace(draft, body_hash="", text_hash=""), own.id, since)
            return self._edit(github, record, draft, own.id, "", found)
        if create:
            return self._create(github, record, draft, since)
        record.settle_claimed(draft, None, since)
        COMMENTS.labels("silent").inc()
        return True

    def stands(self, github: CommentApi, slot: Slot, *, look: bool) -> bool:
        """Whether there is a comment that can be brought up to date. `look`: as for `keep`."""
        kept = self._record(slot).kept()
        if kept is not None:
            return kept.state is CommentState.POSTED
        return look and self._find(github, slot) is not None

    def remove(self, github: CommentApi, slot: Slot, text_hash: str, *, look: bool = False) -> None:
        """Answer a text with silence, and delete the comment that answered what stood there before.

        `look`: as for `keep`. Raises Retryable while another attempt is at the same comment.
        """
        record = self._record(slot)
        kept = record.kept()
        doubtful = look if kept is None else kept.state is CommentState.INTENDED
        if doubtful:
            self._remove_doubtful(github, record, text_hash)
            return
        if kept is not None and kept.state is CommentState.POSTED and kept.comment_id is not None:
            _delete(github, slot, kept.comment_id)
            record.silence(kept.comment_id)
        record.answer_silently(text_hash)

    def _remove_doubtful(self, github: CommentApi, record: Record, text_hash: str) -> None:
        """The same where a comment may be there, and nobody knows which: an attempt has ended without an answer, or the
        store knows of none.
        """
        claim, since = record.claim()
        if claim is Claim.SETTLED:
            self.remove(github, record.slot, text_hash)
            return
        with record.held(since):
            own = self._find(github, record.slot)
            if own is not None:
                _delete(github, record.slot, own.id)
        record.settle_claimed(Draft("", "", text_hash), None, since)

    def _create(self, github: CommentApi, record: Record, draft: Draft, since: float) -> bool:
        """Post the comment if the claim of `since` still holds: to look for an earlier one may have outlasted it."""
        slot, since = record.slot, record.renew(since)
        with record.held(since):
            comment = github.create_comment(slot.repo, slot.number, draft.body)
        if (settled := record.settle(draft, comment.id, since)) is None:
            return self._give_way(github, record, comment.id)
        COMMENTS.labels("posted").inc()
        if not self._alone and (first := self._find(github, slot)) is not None and first.id != comment.id:
            # Ours came second and is gone by now. What it said is said by the other.
            since = record.settle_claimed(replace(draft, body_hash="", text_hash=""), first.id, settled)
            return self._edit(github, record, draft, first.id, "", since)
        if arrived := current().arrived:
            # By the clock of the queue, which is another than the one that comments show.
            COMMENT_SECONDS.observe(max(0.0, time.time() - arrived))
        return True

    def _give_way(self, github: CommentApi, record: Record, comment_id: int) -> bool:
        """What is done with a comment that came too late: somebody else has taken the claim before it was written."""
        kept = record.kept()
        if kept is None or (kept.comment_id == comment_id and kept.state is CommentState.POSTED):
            # The issue is gone; or they have found this very comment.
            return True
        if kept.state is not CommentState.DELETED and kept.comment_id is None:
            # They are at it right now, or chose to be silent before this was there.
            raise record.doubt()
        try:
            _delete(github, record.slot, comment_id)
        except DoppelError:
            record.lose()
            raise
        return kept.state is not CommentState.DELETED

    def _edit(self, github: CommentApi, record: Record, draft: Draft, comment_id: int, said: str, since: float) -> bool:
        """Have the comment say what the draft says. `said` is the hash of what it says, as far as that is known."""
        changes = said != draft.body_hash
        if changes:
            try:
                github.update_comment(record.slot.repo, comment_id, draft.body)
            except NotFound:
                # Its `issue_comment.deleted` is still on its way, or never came.
                record.mark_deleted(comment_id)
                return False
        if record.settle(draft, comment_id, since) is None:
            kept = record.kept()
            if kept is None or kept.state is CommentState.DELETED:
                return kept is None
            # Which of the two edits came last is not known.
            raise record.doubt()
        COMMENTS.labels("edited" if changes else "unchanged").inc()
        return True

    def _find(self, github: CommentApi, slot: Slot) -> Comment | None:
        """Our comment; the first of several, since people may have reacted to it. The others came too late, and go."""
        own = [
            comment
            for comment in github.comments(slot.repo, slot.number, since=slot.since)
            if slot.is_marked(comment.body) and self.ours(comment.author, comment.app_id)
        ]
        for late in own[1:]:
            _delete(github, slot, late.id)
        return own[0] if own else None

    def _record(self, slot: Slot) -> Record:
        return Record(self._store, slot, self._clock, self._lease)


def _delete(github: CommentApi, slot: Slot, comment_id: int) -> None:
    github.delete_comment(slot.repo, comment_id)
    COMMENTS.labels("deleted").inc()


def digest(*texts: str) -> str:
    """A short hash of texts that tells one from another; lengths keep `("ab", "c")` and `("a", "bc")` apart."""
    whole = hashlib.sha256()
    for text in texts:
        encoded = text.encode(errors="replace")
        whole.update(len(encoded).to_bytes(8, "big") + encoded)
    return whole.hexdigest()[:32]
