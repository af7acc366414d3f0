"""Keep the bot's own comments on GitHub: one for each issue, one reply for each comment with commands (C2).

A comment is known by its row in the store *and* by its hidden marker. The row is claimed before GitHub is asked to
create anything. An attempt that ended without an answer may have succeeded, so the next one first waits until GitHub
must have finished with it and then looks for the marker, which counts only in comments that this App wrote.

A machine can stand still for longer than its claim holds, just before its request is sent, and GitHub cannot be told to
refuse what comes late. So nothing counts as written before the row was seen to be unchanged after it: what another has
done meanwhile stands, and this attempt takes its own comment back, or has all of it looked at again.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from bot.errors import DoppelError, GitHubError, NotFound, Overtaken, RateLimited, Retryable, Unavailable
from bot.model import Comment, RepoRef
from bot.store import ADVISORY, Claim, CommentState
from bot.store.parts.comments import Comments
from bot.telemetry.metrics import COMMENT_SECONDS, COMMENTS
from bot.telemetry.work import current

# A comment that is about to be posted may wait twenty seconds for its turn (the patience of `bot.github`), and GitHub
# ends every request after ten; after this many an unanswered write has happened or never will.
LEASE = 35.0
# Seconds after which a comment that another attempt has claimed is asked about again, at the earliest.
_LEAST_WAIT = 1.0


class CommentApi(Protocol):
    """The operations on GitHub that are needed here."""

    def comments(self, repo: RepoRef, number: int, since: datetime | None = None) -> list[Comment]: ...

    def create_comment(self, repo: RepoRef, number: int, body: str) -> Comment: ...

    def update_comment(self, repo: RepoRef, comment_id: int, body: str) -> Comment: ...

    def delete_comment(self, repo: RepoRef, comment_id: int) -> None: ...


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of one comment: an issue, and the comment whose commands it answers (ADVISORY: none).

    `is_marked` recognises the body of a comment that belongs here. Where `since` is known none was written before it,
    and none is looked for: an issue can have 2,500 comments.
    """

    repo_id: int
    repo: RepoRef
    number: int
    is_marked: Callable[[str], bool]
    command_id: int = ADVISORY
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """What the comment shall say.

    `body_hash` tells whether an edit would change anything; it leaves out what may differ without a reason to edit.
    `text_hash` is of the text that this answers, `shown` the candidates in it.
    """

    body: str
    body_hash: str
    text_hash: str
    shown: Sequence[int] = ()


class CommentKeeper:
    """Writes comments so that no retry, crash, redelivery or second worker can make two of one."""

    def __init__(self, store: Comments, app_id: int, clock: Callable[[], datetime], lease: float = LEASE) -> None:
        self._store = store
        self._app_id = app_id
        self._clock = clock
        self._lease = lease

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
        kept = self._store.get(slot.repo_id, slot.number, slot.command_id)
        if kept is not None and kept.state is CommentState.DELETED:
            return False
        if kept is not None and kept.comment_id is not None:
            said = "" if anew else kept.body_hash
            return self._edit(github, slot, draft, kept.comment_id, said, kept.updated_at)
        # Who goes on being silent need not look again each time, though the record may be of a backup.
        look = look and (create or kept is None or kept.state is CommentState.INTENDED)
        if not create and not look and (kept is None or kept.state is CommentState.SILENT):
            self._answer_silently(slot, draft.text_hash, draft.shown)
            COMMENTS.labels("silent").inc()
            return True
        since = self._now()
        claim = self._claim(slot, since)
        if claim is Claim.SETTLED:
            # Somebody else has just finished it; the second look finds their comment.
            return self.keep(github, slot, draft, create=create, anew=anew)
        with self._claimed(slot, since):
            own = self._find(github, slot) if look or claim is Claim.DOUBTFUL else None
        if own is None and create:
            return self._create(github, slot, draft, since)
        # Until the edit has succeeded it counts as an answer to nothing.
        noted = draft if own is None else replace(draft, body_hash="", text_hash="")
        now = self._now()
        if not self._settle(slot, noted, None if own is None else own.id, now, since):
            raise _overtaken(slot, self._lease)
        if own is None:
            COMMENTS.labels("silent").inc()
            return True
        return self._edit(github, slot, draft, own.id, "", now)

    def stands(self, github: CommentApi, slot: Slot, *, look: bool) -> bool:
        """Whether there is a comment that can be brought up to date. `look`: as for `keep`."""
        kept = self._store.get(slot.repo_id, slot.number, slot.command_id)
        if kept is not None:
            return kept.state is CommentState.POSTED
        return look and self._find(github, slot) is not None

    def remove(self, github: CommentApi, slot: Slot, text_hash: str) -> None:
        """Answer a text with silence, and delete the comment that answered what stood there before.

        Raises Retryable while another attempt is at the same comment.
        """
        kept = self._store.get(slot.repo_id, slot.number, slot.command_id)
        if kept is not None and kept.state is CommentState.INTENDED:
            self._remove_doubtful(github, slot, text_hash)
            return
        if kept is not None and kept.state is CommentState.POSTED and kept.comment_id is not None:
            github.delete_comment(slot.repo, kept.comment_id)
            self._store.silence(slot.repo_id, slot.number, kept.comment_id)
            COMMENTS.labels("deleted").inc()
        self._answer_silently(slot, text_hash)

    def _remove_doubtful(self, github: CommentApi, slot: Slot, text_hash: str) -> None:
        """The same where an attempt has ended without an answer: its comment may be there, and nobody knows which."""
        since = self._now()
        if self._claim(slot, since) is Claim.SETTLED:
            self.remove(github, slot, text_hash)
            return
        with self._claimed(slot, since):
            own = self._find(github, slot)
            if own is not None:
                github.delete_comment(slot.repo, own.id)
                COMMENTS.labels("deleted").inc()
        if not self._settle(slot, Draft("", "", text_hash), None, self._now(), since):
            raise _overtaken(slot, self._lease)

    def _claim(self, slot: Slot, since: float) -> Claim:
        """Claim the comment from now on. Raises Retryable while somebody else has."""
        claim = self._store.claim(slot.repo_id, slot.number, slot.command_id, now=since, lease=self._lease)
        if claim is Claim.BUSY:
            raise Retryable(f"another attempt is commenting on {slot.repo}#{slot.number}", after=self._left(slot))
        return claim

    def _create(self, github: CommentApi, slot: Slot, draft: Draft, since: float) -> bool:
        """Post the comment if the claim of `since` still holds: to look for an earlier one may have outlasted it."""
        now = self._now()
        if not self._store.renew(slot.repo_id, slot.number, slot.command_id, since=since, now=now):
            raise _overtaken(slot, self._lease)
        with self._claimed(slot, now):
            comment = github.create_comment(slot.repo, slot.number, draft.body)
        if not self._settle(slot, draft, comment.id, self._now(), now):
            return self._give_way(github, slot, comment.id)
        COMMENTS.labels("posted").inc()
        if arrived := current().arrived:
            # By the clock of the queue, which is another than the one that comments show.
            COMMENT_SECONDS.observe(max(0.0, time.time() - arrived))
        return True

    def _give_way(self, github: CommentApi, slot: Slot, comment_id: int) -> bool:
        """What is done with a comment that came too late: somebody else has taken the claim before it was written."""
        kept = self._store.get(slot.repo_id, slot.number, slot.command_id)
        if kept is None or (kept.comment_id == comment_id and kept.state is CommentState.POSTED):
            # The issue is gone; or they have found this very comment.
            return True
        settled = kept.state is CommentState.DELETED or kept.comment_id is not None
        try:
            if settled:
                github.delete_comment(slot.repo, comment_id)
                COMMENTS.labels("deleted").inc()
                return kept.state is not CommentState.DELETED
        except DoppelError:
            self._store.lose(slot.repo_id, slot.number, slot.command_id)
            raise
        # They are at it right now, or chose to be silent before this was there.
        self._doubt(slot)
        raise _overtaken(slot, _LEAST_WAIT)

    def _edit(
        self, github: CommentApi, slot: Slot, draft: Draft, comment_id: int, body_hash: str, since: float
    ) -> bool:
        if body_hash != draft.body_hash:
            try:
                github.update_comment(slot.repo, comment_id, draft.body)
            except NotFound:
                # Its `issue_comment.deleted` is still on its way, or never came.
                self._store.mark_deleted(slot.repo_id, slot.number, comment_id, self._now())
                return False
        if not self._settle(slot, draft, comment_id, self._now(), since):
            kept = self._store.get(slot.repo_id, slot.number, slot.command_id)
            if kept is None or kept.state is CommentState.DELETED:
                return kept is None
            # Which of the two edits came last is not known.
            self._doubt(slot)
            raise _overtaken(slot, _LEAST_WAIT)
        COMMENTS.labels("edited" if body_hash != draft.body_hash else "unchanged").inc()
        return True

    @contextmanager
    def _claimed(self, slot: Slot, since: float) -> Iterator[None]:
        """Give the claim of `since` back where GitHub certainly wrote nothing, and hold it where it may have."""
        try:
            yield
        except (GitHubError, RateLimited, Overtaken):
            self._store.release(slot.repo_id, slot.number, slot.command_id, since=since)
            raise
        except Unavailable as unanswered:
            raise Retryable(str(unanswered), after=max(self._lease, unanswered.after or 0)) from unanswered

    def _left(self, slot: Slot) -> float:
        """Seconds for which another attempt's claim still holds: whoever made it may be dead, and nothing more is
        waited for than that.
        """
        at, now = self._store.claimed_at(slot.repo_id, slot.number, slot.command_id), self._now()
        return _LEAST_WAIT if at is None else min(self._lease, max(_LEAST_WAIT, at + self._lease - now))

    def _find(self, github: CommentApi, slot: Slot) -> Comment | None:
        """Our comment; the first of several, since people may have reacted to it. The others came too late, and go."""
        own = [
            comment
            for comment in github.comments(slot.repo, slot.number, since=slot.since)
            # A person who acts through the App bears its id too, and anybody can write a marker.
            if comment.app_id == self._app_id and comment.author.is_bot and slot.is_marked(comment.body)
        ]
        for late in own[1:]:
            github.delete_comment(slot.repo, late.id)
            COMMENTS.labels("deleted").inc()
        return own[0] if own else None

    def _doubt(self, slot: Slot) -> None:
        self._store.doubt(slot.repo_id, slot.number, slot.command_id, now=self._now())

    def _answer_silently(self, slot: Slot, text_hash: str, shown: Sequence[int] = ()) -> None:
        where = (slot.repo_id, slot.number, slot.command_id)
        self._store.answer_silently(*where, text_hash=text_hash, shown=shown, now=self._now())

    def _settle(self, slot: Slot, draft: Draft, comment_id: int | None, now: float, since: float) -> bool:
        return self._store.settle(
            slot.repo_id,
            slot.number,
            slot.command_id,
            comment_id=comment_id,
            text_hash=draft.text_hash,
            body_hash="" if comment_id is None else draft.body_hash,
            shown=draft.shown,
            now=now,
            since=since,
        )

    def _now(self) -> float:
        return self._clock().timestamp()


def _overtaken(slot: Slot, after: float) -> Retryable:
    return Retryable(f"another attempt has begun to comment on {slot.repo}#{slot.number}", after=after)


def digest(*texts: str) -> str:
    """A short hash of texts that tells one from another; lengths keep `("ab", "c")` and `("a", "bc")` apart."""
    whole = hashlib.sha256()
    for text in texts:
        encoded = text.encode(errors="replace")
        whole.update(len(encoded).to_bytes(8, "big") + encoded)
    return whole.hexdigest()[:32]
