"""How one find is wanted (F1)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import get_args

from bot.errors import InvalidArgument
from bot.model import Issue, StateFilter
from bot.ranking.relevance import DEFAULT_RELEVANCE, Relevance


@dataclass(frozen=True, slots=True)
class FindOptions:
    """How one find is wanted. Raises InvalidArgument naming the option that is wrong.

    `threshold` is the least similarity of titles (F5), `min_confidence` the least learned probability, both in [0, 1];
    `max_candidates` how many are shown at most, from 1 on; `relevance` what they are sorted by (H5), `state` the one
    in which issues count. `words` replace the words that are searched for. `rejected` are numbers that are never shown,
    `rejected_elsewhere` issues of other repositories (as `owner/repo#number` in lower case); `earlier_only` leaves out
    what came later. `named` are the issues (written so, see `bot/text/naming.py`) that the target's text names: they
    are left out, or with `show_named` shown and marked. `duplicates` says which issues people here marked as duplicates
    of which. With `sources` only what one of these found is shown (H4), whatever the others put before it. Without
    `explained` candidates come without reasons, which cost a look into the text of each: to measure by.

    What a command asks to differ from the settings is `bot.commands.Options`.
    """

    threshold: float = 0.3
    max_candidates: int = 10
    relevance: str = DEFAULT_RELEVANCE
    min_confidence: float | None = None
    state: StateFilter = "open"
    words: str = ""
    rejected: Collection[int] = ()
    rejected_elsewhere: Collection[str] = ()
    earlier_only: bool = False
    named: Collection[str] = ()
    show_named: bool = False
    duplicates: Mapping[int, int] = field(default_factory=dict)
    sources: Collection[str] = ()
    explained: bool = True

    def __post_init__(self) -> None:
        if not _is_share(self.threshold):
            raise InvalidArgument("threshold", f"{self.threshold!r} is not between 0 and 1")
        most = self.max_candidates
        if isinstance(most, bool) or not isinstance(most, int) or most < 1:
            raise InvalidArgument("max_candidates", f"{most!r} is not 1 or more")
        if self.relevance not in tuple(Relevance):
            raise InvalidArgument("relevance", f"{self.relevance!r} is not one of: {', '.join(Relevance)}")
        if self.state not in get_args(StateFilter):
            # No issue is in such a state, and "none" would be a false answer (F9).
            raise InvalidArgument("state", f"{self.state!r} is not one of: {', '.join(get_args(StateFilter))}")
        if self.min_confidence is not None and not _is_share(self.min_confidence):
            raise InvalidArgument("min_confidence", f"{self.min_confidence!r} is not between 0 and 1")

    @property
    def by(self) -> Relevance:
        """What to sort by."""
        return Relevance(self.relevance)

    def may_tell(self, issue: Issue, target: Issue) -> bool:
        """Whether an issue may be mentioned at all: another one, that nobody rejected, and early enough.

        Issues, pull requests and discussions of a repository share one row of numbers.
        """
        # One that was transferred here has a later number than those that came after it.
        if self.earlier_only and issue.created_at > target.created_at:
            return False
        if issue.repo.key != target.repo.key:
            return issue.key not in self.rejected_elsewhere
        return (
            issue.number != target.number
            and issue.number not in self.rejected
            and not (self.earlier_only and issue.number > target.number)
        )

    def may_show(self, confidence: float, sources: Collection[str]) -> bool:
        """Whether what these sources found is likely enough, and is asked for."""
        likely = self.min_confidence is None or confidence >= self.min_confidence
        return likely and (not self.sources or not set(self.sources).isdisjoint(sources))

    def may_lead(self, issue: Issue) -> bool:
        """Whether it is in a state that is asked for."""
        return self.state in ("all", issue.state)


def _is_share(value: object) -> bool:
    """Whether it is a number in [0, 1]. NaN fails the comparison; a bool is a number to Python alone."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
