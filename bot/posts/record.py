"""Where a comment of the bot's own belongs and what it shall say there, what is stored of it, and the claim of whoever
is about to create it (C2).

A claim is told from others by the time at which it was taken, and holds for some seconds: whoever took it may be dead.
Nothing counts as written before the row was seen to be unchanged since then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from bot.errors import GitHubError, Overtaken, RateLimited, Retryable, Unavailable
from bot.model import RepoRef
from bot.store import ADVISORY, Claim, KeptComment
from bot.store.parts.comments import Comments


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


LEASE = 35.0
"""Seconds. What is about to be posted may wait twenty for its turn (the patience of `bot.github`), and GitHub ends
every request after ten; after this many an unanswered write has happened or never will."""

_LEAST_WAIT = 1.0
"""Seconds after which a comment that another attempt is at is asked about again, at the earliest."""


class Record:
    """The row of one slot, as one attempt reads and writes it; claims hold for `lease` seconds."""

    def __init__(self, store: Comments, slot: Slot, clock: Callable[[], datetime], lease: float) -> None:
        self.slot = slot
        self._store = store
        self._where = (slot.repo_id, slot.number, slot.command_id)
        self._clock = clock
        self._lease = lease

    def kept(self) -> KeptComment | None:
        """What is known of the comment; None where the question never came up."""
        return self._store.get(*self._where)

    def claim(self) -> tuple[Claim, float]:
        """Claim the comment: the answer, never `BUSY`, and the time by which the claim is known.

        Raises Retryable while somebody else has claimed it.
        """
        since = self._now()
        claim = self._store.claim(*self._where, now=since, lease=self._lease)
        if claim is Claim.BUSY:
            place = f"{self.slot.repo}#{self.slot.number}"
            raise Retryable(f"another attempt is commenting on {place}", after=self._left())
        return claim, since

    def renew(self, since: float) -> float:
        """Let the claim of `since` begin anew; the time by which it is known from then on.

        Raises Retryable where somebody else has taken it meanwhile.
        """
        now = self._now()
        if not self._store.renew(*self._where, since=since, now=now):
            raise self._overtaken(self._lease)
        return now

    @contextmanager
    def held(self, since: float) -> Iterator[None]:
        """Give the claim of `since` back where GitHub certainly wrote nothing, and hold it where it may have."""
        try:
            yield
        except (GitHubError, RateLimited, Overtaken):
            self._store.release(*self._where, since=since)
            raise
        except Unavailable as unanswered:
            raise Retryable(str(unanswered), after=max(self._lease, unanswered.after or 0)) from unanswered

    def settle(self, draft: Draft, comment_id: int | None, since: float) -> float | None:
        """Note that this comment, or none, says what the draft says; the time by which that is known.

        None where somebody else has written the row after `since`, and what they have written stands.
        """
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
        """Like `settle`, before anything is written on GitHub: raises Retryable where somebody else has the claim."""
        now = self.settle(draft, comment_id, since)
        if now is None:
            raise self._overtaken(self._lease)
        return now

    def answer_silently(self, text_hash: str, shown: Sequence[int] = ()) -> None:
        """Note that a text was answered by writing nothing, which would have shown these candidates."""
        self._store.answer_silently(*self._where, text_hash=text_hash, shown=shown, now=self._now())

    def silence(self, comment_id: int) -> None:
        """Note that the bot itself took this comment away."""
        self._store.silence(self.slot.repo_id, self.slot.number, comment_id)

    def mark_deleted(self, comment_id: int) -> None:
        """Note that a maintainer deleted this comment."""
        self._store.mark_deleted(self.slot.repo_id, self.slot.number, comment_id, self._now())

    def lose(self) -> None:
        """Note that nobody knows which comment it is."""
        self._store.lose(*self._where)

    def doubt(self) -> Retryable:
        """Note that nobody knows what the comment says; the error with which the attempt has to end."""
        self._store.doubt(*self._where, now=self._now())
        return self._overtaken(_LEAST_WAIT)

    def _left(self) -> float:
        """Seconds for which another attempt's claim still holds: whoever made it may be dead, and nothing more is
        waited for than that.
        """
        at, now = self._store.claimed_at(*self._where), self._now()
        return _LEAST_WAIT if at is None else min(self._lease, max(_LEAST_WAIT, at + self._lease - now))

    def _overtaken(self, after: float) -> Retryable:
        return Retryable(f"another attempt has begun to comment on {self.slot.repo}#{self.slot.number}", after=after)

    def _now(self) -> float:
        return self._clock().timestamp()
