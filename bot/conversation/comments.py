"""The bot's comments on GitHub: one advisory comment for each issue, one reply for each comment with commands (C2).

A comment is known by its row in the store *and* by its hidden marker. An attempt claims the row before it asks GitHub
to create anything. A claim is identified by its time, and expires, since its holder may be dead. An attempt without an
answer may have succeeded, so the next one waits until GitHub must have finished with it, and then looks for the marker,
which counts only in comments that the bot wrote.

A machine can stand still longer than its claim holds, just before it sends its request. So a comment counts as written
only if the row is unchanged afterwards. Otherwise this attempt deletes its own comment, or leaves that to another one.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from bot.conversation.marker import IsOurs
from bot.domain.entities import Comment, RepoRef
from bot.domain.errors import DoppelError, GitHubError, NotFound, Overtaken, RateLimited, Retryable, Unavailable
from bot.github.repository import RepoClient
from bot.platform.metrics import COMMENT_SECONDS, COMMENTS
from bot.platform.tracing import current
from bot.storage import ADVISORY, ClaimOutcome, CommentState, StoredComment
from bot.storage.comments import Comments


@dataclass(frozen=True, slots=True)
class CommentSlot:
    """The place of one comment: an issue, and the comment whose commands it answers (ADVISORY: none).

    `is_marked` recognises the body of a comment that belongs here. `since`, if known, bounds the search for it: an
    issue can have 2,500 comments.
    """

    repo_id: int
    repo: RepoRef
    number: int
    is_marked: Callable[[str], bool]
    command_id: int = ADVISORY
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class CommentDraft:
    """A comment's new content, and the candidates `shown` in it.

    `body_hash` tells whether an edit is needed, and ignores differences that are no reason for one; None is unlike any.
    `text_hash` is of the text that the comment answers, None if it answers none yet.
    """

    body: str
    body_hash: str | None
    text_hash: str | None
    shown: Sequence[int] = ()

    def unwritten(self) -> CommentDraft:
        """The same before GitHub has taken it: it answers nothing yet, and nobody knows what the comment says."""
        return replace(self, body_hash=None, text_hash=None)


LEASE = 35.0
"""Seconds that a claim holds. A request may wait twenty for its turn (the patience of `bot.github`), and GitHub ends it
after ten more; after that an unanswered write has happened or never will."""

# Seconds before the next try, at the earliest, while another attempt is at the comment.
_LEAST_WAIT = 1.0


class CommentRow:
    """One attempt's access to the row of a slot; claims hold for `lease` seconds."""

    def __init__(self, store: Comments, slot: CommentSlot, clock: Callable[[], datetime], lease: float) -> None:
        self.slot = slot
        self._store = store
        self._where = (slot.repo_id, slot.number, slot.command_id)
        self._clock = clock
        self._lease = lease

    def kept(self) -> StoredComment | None:
        """The stored comment; None if there never was a row."""
        return self._store.get(*self._where)

    def claim(self) -> tuple[ClaimOutcome, float]:
        """Claim the comment; returns the answer, never `BUSY`, and the claim's time. Raises Retryable if taken."""
        since = self._now()
        claim = self._store.claim(*self._where, now=since, lease=self._lease)
        if claim is ClaimOutcome.BUSY:
            at, now = self._store.claimed_at(*self._where), self._now()
            left = _LEAST_WAIT if at is None else min(self._lease, max(_LEAST_WAIT, at + self._lease - now))
            raise Retryable(f"another attempt is commenting on {self.slot.repo}#{self.slot.number}", after=left)
        return claim, since

    def renew(self, since: float) -> float:
        """Renew the claim of `since`; returns its new time. Raises Retryable if another attempt has taken it."""
        now = self._now()
        if not self._store.renew(*self._where, since=since, now=now):
            raise self._overtaken(self._lease)
        return now

    @contextmanager
    def claimed(self, since: float) -> Iterator[None]:
        """Release the claim of `since` if GitHub certainly wrote nothing, and keep it if it may have."""
        try:
            yield
        except (GitHubError, RateLimited, Overtaken):
            self._store.release(*self._where, since=since)
            raise
        except Unavailable as unanswered:
            raise Retryable(str(unanswered), after=max(self._lease, unanswered.after or 0)) from unanswered

    def settle(self, draft: CommentDraft, comment_id: int | None, since: float) -> float | None:
        """Note that this comment, or none, has the draft's content; the time of the note, or None if overtaken."""
        now = self._now()
        settled = self._store.settle(
            *self._where,
            comment_id=comment_id,
            text_hash=draft.text_hash,
            body_hash=None if comment_id is None else draft.body_hash,
            shown=draft.shown,
            now=now,
            since=since,
        )
        return now if settled else None

    def settle_claimed(self, draft: CommentDraft, comment_id: int | None, since: float) -> float:
        """Like `settle`, before a write on GitHub: raises Retryable if another attempt has the claim."""
        now = self.settle(draft, comment_id, since)
        if now is None:
            raise self._overtaken(self._lease)
        return now

    def answer_silently(self, text_hash: str | None, shown: Sequence[int] = ()) -> None:
        """Note that a text with these candidates was answered by writing nothing."""
        self._store.answer_silently(*self._where, text_hash=text_hash, shown=shown, now=self._now())

    def mark_deleted(self, comment_id: int) -> None:
        """Note that a maintainer deleted this comment."""
        self._store.mark_deleted(self.slot.repo_id, self.slot.number, comment_id, self._now())

    def lose(self) -> None:
        """Note that nobody knows which comment it is."""
        self._store.lose(*self._where)

    def doubt(self) -> Retryable:
        """Note that nobody knows what the comment says; returns the error with which the attempt must end."""
        self._store.doubt(*self._where, now=self._now())
        return self._overtaken(_LEAST_WAIT)

    def _overtaken(self, after: float) -> Retryable:
        return Retryable(f"another attempt has begun to comment on {self.slot.repo}#{self.slot.number}", after=after)

    def _now(self) -> float:
        return self._clock().timestamp()


class CommentKeeper:
    """Writes comments so that no retry, crash, redelivery or second worker makes two of one.

    `ours` tells whose comments are the bot's. `alone` says that everybody who writes them shares this store, so that
    nobody can post at the same moment unseen.
    """

    def __init__(
        self, store: Comments, ours: IsOurs, clock: Callable[[], datetime], lease: float = LEASE, *, alone: bool = True
    ) -> None:
        self._store = store
        self.ours = ours
        self._clock = clock
        self._lease = lease
        self._alone = alone

    def keep(
        self,
        github: RepoClient,
        slot: CommentSlot,
        draft: CommentDraft,
        *,
        look: bool = False,
        create: bool = True,
        anew: bool = False,
    ) -> bool:
        """Make the slot's comment say what the draft says; False if a maintainer deleted it.

        `look` searches GitHub even if the store has no row: the comment may have come with a transfer, or the store may
        be new or restored. Without `create` it only edits an existing comment. `anew` edits it even if it says so
        already, since somebody may have deleted or changed it without an event. Raises Retryable while another attempt
        is at the same comment.
        """
        row = self._row(slot)
        kept = row.kept()
        if kept is not None and kept.state is CommentState.DELETED:
            return False
        if kept is not None and kept.comment_id is not None:
            said = None if anew else kept.body_hash
            return self._edit(github, row, draft, kept.comment_id, said, kept.updated_at)
        # A silent row need not be checked each time, though it may come from a backup.
        look = look and (create or kept is None or kept.state is CommentState.INTENDED)
        if not create and not look and (kept is None or kept.state is CommentState.SILENT):
            row.answer_silently(draft.text_hash, draft.shown)
            COMMENTS.labels("silent").inc()
            return True
        claim, since = row.claim()
        if claim is ClaimOutcome.SETTLED:
            # Another attempt has just finished it; this call finds its comment.
            return self.keep(github, slot, draft, create=create, anew=anew)
        with row.claimed(since):
            own = self._find(github, slot) if look or claim is ClaimOutcome.DOUBTFUL else None
        if own is not None:
            # Until the edit has succeeded, it answers nothing.
            found = row.settle_claimed(draft.unwritten(), own.id, since)
            return self._edit(github, row, draft, own.id, None, found)
        if create:
            return self._create(github, row, draft, since)
        row.settle_claimed(draft, None, since)
        COMMENTS.labels("silent").inc()
        return True

    def stands(self, github: RepoClient, slot: CommentSlot, *, look: bool) -> bool:
        """Whether there is a comment to keep up to date. `look` as for `keep`."""
        kept = self._row(slot).kept()
        if kept is not None:
            return kept.state is CommentState.POSTED
        return look and self._find(github, slot) is not None

    def remove(self, github: RepoClient, slot: CommentSlot, text_hash: str, *, look: bool = False) -> None:
        """Answer a text with silence, and delete the comment that answered the former text.

        `look` as for `keep`. Raises Retryable while another attempt is at the same comment.
        """
        row = self._row(slot)
        kept = row.kept()
        if look if kept is None else kept.state is CommentState.INTENDED:
            self._remove_doubtful(github, row, text_hash)
            return
        if kept is not None and kept.state is CommentState.POSTED and kept.comment_id is not None:
            _delete(github, slot, kept.comment_id)
            self._store.silence(slot.repo_id, slot.number, kept.comment_id)
        row.answer_silently(text_hash)

    def _remove_doubtful(self, github: RepoClient, row: CommentRow, text_hash: str) -> None:
        """The same for a comment that may exist: an attempt has ended without an answer, or the store has no row."""
        claim, since = row.claim()
        if claim is ClaimOutcome.SETTLED:
            self.remove(github, row.slot, text_hash)
            return
        with row.claimed(since):
            own = self._find(github, row.slot)
            if own is not None:
                _delete(github, row.slot, own.id)
        row.settle_claimed(CommentDraft("", None, text_hash), None, since)

    def _create(self, github: RepoClient, row: CommentRow, draft: CommentDraft, since: float) -> bool:
        """Post the comment if the claim of `since` still holds: the search for an earlier one takes time."""
        slot, since = row.slot, row.renew(since)
        with row.claimed(since):
            comment = github.create_comment(slot.repo, slot.number, draft.body)
        if (settled := row.settle(draft, comment.id, since)) is None:
            return self._give_way(github, row, comment.id)
        COMMENTS.labels("posted").inc()
        if not self._alone and (first := self._find(github, slot)) is not None and first.id != comment.id:
            # Ours came second and is gone by now. What it said is said by the other.
            since = row.settle_claimed(draft.unwritten(), first.id, settled)
            return self._edit(github, row, draft, first.id, None, since)
        if arrived := current().arrived:
            # `arrived` is by the queue's clock, not by the one that tests replace.
            COMMENT_SECONDS.observe(max(0.0, time.time() - arrived))
        return True

    def _give_way(self, github: RepoClient, row: CommentRow, comment_id: int) -> bool:
        """Handle a comment that came too late: another attempt took the claim before it was written."""
        kept = row.kept()
        if kept is None or (kept.comment_id == comment_id and kept.state is CommentState.POSTED):
            # The issue is gone, or the other attempt has found this very comment.
            return True
        if kept.state is not CommentState.DELETED and kept.comment_id is None:
            # The other attempt is still running, or chose silence before this comment existed.
            raise row.doubt()
        try:
            _delete(github, row.slot, comment_id)
        except DoppelError:
            row.lose()
            raise
        return kept.state is not CommentState.DELETED

    def _edit(
        self, github: RepoClient, row: CommentRow, draft: CommentDraft, comment_id: int, said: str | None, since: float
    ) -> bool:
        """Edit the comment unless it says so already. `said` is the known hash of its body, if any."""
        changes = said is None or said != draft.body_hash
        if changes:
            try:
                github.update_comment(row.slot.repo, comment_id, draft.body)
            except NotFound:
                # Its `issue_comment.deleted` is still on its way, or never came.
                row.mark_deleted(comment_id)
                return False
        if row.settle(draft, comment_id, since) is None:
            kept = row.kept()
            if kept is None or kept.state is CommentState.DELETED:
                return kept is None
            # Nobody knows which of the two edits came last.
            raise row.doubt()
        COMMENTS.labels("edited" if changes else "unchanged").inc()
        return True

    def _find(self, github: RepoClient, slot: CommentSlot) -> Comment | None:
        """Our comment; of several the first, since people may have reacted to it. It deletes the others."""
        own = [
            comment
            for comment in github.comments(slot.repo, slot.number, since=slot.since)
            if slot.is_marked(comment.body) and self.ours(comment.author, comment.app_id)
        ]
        for late in own[1:]:
            _delete(github, slot, late.id)
        return own[0] if own else None

    def _row(self, slot: CommentSlot) -> CommentRow:
        return CommentRow(self._store, slot, self._clock, self._lease)


def _delete(github: RepoClient, slot: CommentSlot, comment_id: int) -> None:
    github.delete_comment(slot.repo, comment_id)
    COMMENTS.labels("deleted").inc()


def hash_texts(*texts: str) -> str:
    """A short hash of some texts. Their lengths keep `("ab", "c")` and `("a", "bc")` apart."""
    whole = hashlib.sha256()
    for text in texts:
        encoded = text.encode(errors="replace")
        whole.update(len(encoded).to_bytes(8, "big") + encoded)
    return whole.hexdigest()[:32]
