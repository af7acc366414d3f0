"""The bot's comments on GitHub: one advisory comment for each issue, one reply for each comment with commands (C2).

The store has a row for each comment. If the row has no comment id, the hidden marker tells which comment is the bot's.
An attempt claims the row before it asks GitHub to create a comment; the claim's time identifies the claim. Claims
expire, since their holders may be dead. A request without an answer may have succeeded. So the next attempt waits until
GitHub can no longer be working on that request. Then it looks for the marker in the bot's own comments.

An attempt can freeze after it has claimed the row, and send its request after the claim has expired. So a comment
counts as written only if the row is still unchanged after GitHub's answer. Otherwise this attempt deletes its comment,
or leaves the comment to a later attempt.
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
from bot.platform.lease import TRUSTED_SECONDS, check_lease, working_under_lease
from bot.platform.metrics import COMMENT_SECONDS, COMMENTS
from bot.platform.tracing import current
from bot.storage import ADVISORY, ClaimOutcome, CommentState, StoredComment
from bot.storage.comments import Comments


@dataclass(frozen=True, slots=True)
class CommentSlot:
    """The place of one comment by the bot: the issue, and the id of the comment with the commands (or ADVISORY).

    `is_marked` recognises the body of a comment that belongs here. `search_after`, if known, limits the search on
    GitHub to comments after that time, because an issue can have 2,500 comments.
    """

    repo_id: int
    repo: RepoRef
    number: int
    is_marked: Callable[[str], bool]
    command_id: int = ADVISORY
    search_after: datetime | None = None


@dataclass(frozen=True, slots=True)
class CommentDraft:
    """A comment's new content, and the candidates `shown` in it.

    The bot edits the comment if `body_hash` differs from the stored hash, or is None. The hash ignores differences that
    do not deserve an edit. `text_hash` is the hash of the text that the comment answers, if any.
    """

    body: str
    body_hash: str | None
    text_hash: str | None
    shown: Sequence[int] = ()

    def unwritten(self) -> CommentDraft:
        """The draft without hashes, to store before editing a comment whose text is unknown."""
        return replace(self, body_hash=None, text_hash=None)


LEASE = 35.0
"""A claim holds for this many seconds. A request may wait twenty seconds for its turn (the patience of `bot.github`),
and GitHub ends a request after ten more. By then, an unanswered write has happened or never will."""

# The shortest wait in seconds while another attempt handles the comment.
_LEAST_WAIT = 1.0


class CommentRow:
    """One attempt's access to the row of a slot; claims expire after `lease` seconds."""

    def __init__(self, store: Comments, slot: CommentSlot, clock: Callable[[], datetime], lease: float) -> None:
        self.slot = slot
        self._store = store
        self._where = (slot.repo_id, slot.number, slot.command_id)
        self._clock = clock
        self._lease = lease

    def stored(self) -> StoredComment | None:
        return self._store.get(*self._where)

    def claim(self) -> tuple[ClaimOutcome, float]:
        """Claim the comment; returns the outcome and the claim's time. Raises Retryable instead of returning `BUSY`."""
        since = self._now()
        outcome = self._store.claim(*self._where, now=since, lease=self._lease)
        if outcome is ClaimOutcome.BUSY:
            at, now = self._store.claimed_at(*self._where), self._now()
            left = _LEAST_WAIT if at is None else min(self._lease, max(_LEAST_WAIT, at + self._lease - now))
            raise Retryable(f"another attempt is commenting on {self.slot.repo}#{self.slot.number}", after=left)
        return outcome, since

    def renew(self, since: float) -> float:
        """Renew the claim made at `since`; returns the new time. Raises Retryable if another attempt has the claim."""
        now = self._now()
        if not self._store.renew(*self._where, since=since, now=now):
            raise self._overtaken(self._lease)
        return now

    @contextmanager
    def claimed(self, since: float) -> Iterator[None]:
        """Release the claim made at `since` if a request is refused. If no answer comes, keep it; raise Retryable."""
        try:
            yield
        except (GitHubError, RateLimited, Overtaken):
            self._store.release(*self._where, since=since)
            raise
        except Unavailable as unanswered:
            raise Retryable(str(unanswered), after=max(self._lease, unanswered.after or 0)) from unanswered

    def settle(self, draft: CommentDraft, comment_id: int | None, since: float) -> float | None:
        """Record that this comment has the draft's content; without a `comment_id`, that the bot wrote no comment.

        `since` is the row's `updated_at` as this attempt knows it. Returns the new one, or None if the row has changed.
        """
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
        """Like `settle`, but raises Retryable if another attempt has the claim."""
        now = self.settle(draft, comment_id, since)
        if now is None:
            raise self._overtaken(self._lease)
        return now

    def record_silence(self, text_hash: str | None, shown: Sequence[int] = ()) -> None:
        """Record that the bot found these candidates for a text, and writes nothing."""
        self._store.record_silence(*self._where, text_hash=text_hash, shown=shown, now=self._now())

    def mark_deleted(self, comment_id: int) -> None:
        self._store.mark_deleted(self.slot.repo_id, self.slot.number, comment_id, self._now())

    def mark_unknown(self) -> None:
        """Record that the comment's id and text are unknown. The next attempt looks for it on GitHub."""
        self._store.mark_unknown(*self._where)

    def mark_body_unknown(self) -> Retryable:
        """Record that the comment's text is unknown. Returns an error, which the caller must raise.

        The next attempt edits the comment. If the row has no comment id, that attempt first looks on GitHub.
        """
        self._store.mark_body_unknown(*self._where, now=self._now())
        return self._overtaken(_LEAST_WAIT)

    def _overtaken(self, after: float) -> Retryable:
        return Retryable(f"another attempt has begun to comment on {self.slot.repo}#{self.slot.number}", after=after)

    def _now(self) -> float:
        return self._clock().timestamp()


class CommentWriter:
    """Writes comments so that no retry, crash, redelivery or second worker posts a comment twice.

    `ours` recognises the bot's comments by their author. `shared` says that all writers of these comments share this
    store. Otherwise each writer looks on GitHub after posting, because another may have posted at the same moment.
    """

    def __init__(
        self, store: Comments, ours: IsOurs, clock: Callable[[], datetime], lease: float = LEASE, *, shared: bool = True
    ) -> None:
        self._store = store
        self.ours = ours
        self._clock = clock
        self._lease = lease
        self._shared = shared

    def write(
        self,
        github: RepoClient,
        slot: CommentSlot,
        draft: CommentDraft,
        *,
        search: bool = False,
        create: bool = True,
        force: bool = False,
    ) -> bool:
        """Make the slot's comment say what the draft says; False if a maintainer deleted it.

        `search` looks on GitHub for a comment that is not stored: it may have come with a transfer, or the store may
        be new or restored. Without `create`, only an existing comment is edited. `force` edits the comment even if
        the stored hash is the same, since somebody may have deleted or changed the comment without an event. Raises
        Retryable while another attempt handles the same comment.
        """
        check_lease(TRUSTED_SECONDS)
        row = self._row(slot)
        stored = row.stored()
        if stored is not None and stored.state is CommentState.DELETED:
            return False
        if stored is not None and stored.comment_id is not None:
            known_hash = None if force else stored.body_hash
            return self._edit(github, row, draft, stored.comment_id, known_hash, stored.updated_at)
        # Without `create`, trust a silent row, even from an old backup: a search for each silent row costs too much.
        is_silent = stored is not None and stored.state is CommentState.SILENT
        if not create and (is_silent or (stored is None and not search)):
            row.record_silence(draft.text_hash, draft.shown)
            COMMENTS.labels("silent").inc()
            return True
        outcome, since = row.claim()
        if outcome is ClaimOutcome.SETTLED:
            # Another attempt has just finished: the row's comment is now posted, or deleted for good.
            return self.write(github, slot, draft, create=create, force=force)
        with row.claimed(since):
            own = self._find(github, slot) if search or outcome is ClaimOutcome.DOUBTFUL else None
        if own is not None:
            settled = row.settle_claimed(draft.unwritten(), own.id, since)
            return self._edit(github, row, draft, own.id, None, settled)
        if create:
            return self._create(github, row, draft, since)
        row.settle_claimed(draft, None, since)
        COMMENTS.labels("silent").inc()
        return True

    def exists(self, github: RepoClient, slot: CommentSlot, *, search: bool) -> bool:
        """Whether the row says that the comment is posted. Without a row, `search` looks on GitHub."""
        stored = self._row(slot).stored()
        if stored is not None:
            return stored.state is CommentState.POSTED
        return search and self._find(github, slot) is not None

    def remove(self, github: RepoClient, slot: CommentSlot, text_hash: str, *, search: bool = False) -> None:
        """Delete the comment on the issue's previous text, and record that the bot writes nothing about the new one.

        `search` as for `write`. Raises Retryable while another attempt handles the same comment.
        """
        row = self._row(slot)
        stored = row.stored()
        may_exist = (stored is None and search) or (stored is not None and stored.state is CommentState.INTENDED)
        if may_exist:
            self._remove_doubtful(github, row, text_hash)
            return
        if stored is not None and stored.state is CommentState.POSTED and stored.comment_id is not None:
            _delete(github, slot, stored.comment_id)
            self._store.mark_removed(slot.repo_id, slot.number, stored.comment_id)
        row.record_silence(text_hash)

    def _remove_doubtful(self, github: RepoClient, row: CommentRow, text_hash: str) -> None:
        """Remove a comment that may exist: an attempt ended before it recorded its outcome, or the store has no row."""
        outcome, since = row.claim()
        if outcome is ClaimOutcome.SETTLED:
            self.remove(github, row.slot, text_hash)
            return
        with row.claimed(since):
            own = self._find(github, row.slot)
            if own is not None:
                _delete(github, row.slot, own.id)
        row.settle_claimed(CommentDraft("", None, text_hash), None, since)

    def _create(self, github: RepoClient, row: CommentRow, draft: CommentDraft, since: float) -> bool:
        """Post the comment. First renew the claim made at `since`, because a search takes time; may raise Retryable."""
        slot, since = row.slot, row.renew(since)
        with row.claimed(since):
            comment = github.create_comment(slot.repo, slot.number, draft.body)
        if (settled := row.settle(draft, comment.id, since)) is None:
            return self._give_way(github, row, comment.id)
        COMMENTS.labels("posted").inc()
        if not self._shared and (first := self._find(github, slot)) is not None and first.id != comment.id:
            # Our comment came second, and `_find` has deleted it.
            since = row.settle_claimed(draft.unwritten(), first.id, settled)
            return self._edit(github, row, draft, first.id, None, since)
        if arrived := current().arrived:
            # Compare `arrived` with the real time: the queue does not use `self._clock`, which tests replace.
            COMMENT_SECONDS.observe(max(0.0, time.time() - arrived))
        return True

    def _give_way(self, github: RepoClient, row: CommentRow, comment_id: int) -> bool:
        """Handle a comment that GitHub wrote after another attempt had taken the claim. Returns the same as `write`."""
        stored = row.stored()
        if stored is None or (stored.comment_id == comment_id and stored.state is CommentState.POSTED):
            # The issue is gone, or the other attempt has adopted this very comment.
            return True
        if stored.state is not CommentState.DELETED and stored.comment_id is None:
            # The other attempt is still running, or chose silence. Let the next attempt find and edit this comment.
            raise row.mark_body_unknown()
        try:
            # Delete it even if the job's lease is lost: no other attempt knows of this comment.
            with working_under_lease(lambda: True):
                _delete(github, row.slot, comment_id)
        except DoppelError:
            row.mark_unknown()
            raise
        return stored.state is not CommentState.DELETED

    def _edit(
        self,
        github: RepoClient,
        row: CommentRow,
        draft: CommentDraft,
        comment_id: int,
        known_hash: str | None,
        since: float,
    ) -> bool:
        """Edit the comment unless its body has the draft's hash. `known_hash` is the hash of its body, if known."""
        changes = known_hash is None or known_hash != draft.body_hash
        if changes:
            try:
                github.update_comment(row.slot.repo, comment_id, draft.body)
            except NotFound:
                # The event `issue_comment.deleted` is still on its way, or was lost.
                row.mark_deleted(comment_id)
                return False
        if row.settle(draft, comment_id, since) is None:
            stored = row.stored()
            if stored is None or stored.state is CommentState.DELETED:
                # True if the row is gone with its issue, False if a maintainer deleted the comment.
                return stored is None
            # Another attempt edited the comment too, and nobody knows which edit came last.
            raise row.mark_body_unknown()
        COMMENTS.labels("edited" if changes else "unchanged").inc()
        return True

    def _find(self, github: RepoClient, slot: CommentSlot) -> Comment | None:
        """Find our comment. Keeps the first of several, since people may have reacted to it, and deletes the others."""
        own = [
            comment
            for comment in github.comments(slot.repo, slot.number, since=slot.search_after)
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
