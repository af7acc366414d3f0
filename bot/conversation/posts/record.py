"""A comment's slot and draft, and its stored record with the claim of the attempt that is about to create it (C2).

A claim is identified by its time, and expires after some seconds, since its holder may be dead. A comment counts as
written only if the row is unchanged since the claim.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from bot.domain.entities import RepoRef
from bot.domain.errors import GitHubError, Overtaken, RateLimited, Retryable, Unavailable
from bot.storage import ADVISORY, ClaimOutcome, StoredComment
from bot.storage.comments import Comments


@dataclass(frozen=True, slots=True)
class Slot:
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
class Draft:
    """A comment's new content.

    `body_hash` tells whether an edit is needed; it ignores differences that are no reason to edit. `text_hash` is of
    the text that this answers, `shown` are the candidates in it.
    """

    body: str
    body_hash: str
    text_hash: str
    shown: Sequence[int] = ()


LEASE = 35.0
"""Seconds. A request may wait twenty for its turn (the patience of `bot.github`), and GitHub ends it after ten more;
after that an unanswered write has happened or never will."""

# Seconds before the next try, at the earliest, while another attempt is at the comment.
_LEAST_WAIT = 1.0


class Record:
    """One attempt's access to the row of a slot; claims hold for `lease` seconds."""

    def __init__(self, store: Comments, slot: Slot, clock: Callable[[], datetime], lease: float) -> None:
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
            place = f"{self.slot.repo}#{self.slot.number}"
            raise Retryable(f"another attempt is commenting on {place}", after=left)
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

    def settle(self, draft: Draft, comment_id: int | None, since: float) -> float | None:
        """Note that this comment, or none, has the draft's content; the time of the note, or None if overtaken."""
        now = self._now()
        settled = self._store.settle(
            *self._where,
            comment_id=comment_id,
            text_hash=draft.text_hash,
            body_hash="" if comment_id is None else draft.body_hash,
            shown=draft.shown,
            now=now,
            since=since,
        )
        return now if settled else None

    def settle_claimed(self, draft: Draft, comment_id: int | None, since: float) -> float:
        """Like `settle`, before a write on GitHub: raises Retryable if another attempt has the claim."""
        now = self.settle(draft, comment_id, since)
        if now is None:
            raise self._overtaken(self._lease)
        return now

    def answer_silently(self, text_hash: str, shown: Sequence[int] = ()) -> None:
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
