"""How the arrivals of a replay are asked about."""

from __future__ import annotations

from dataclasses import dataclass

from bot.finder import FindOptions
from bot.ranking.relevance import DEFAULT_RELEVANCE
from bot.sources.choosing import FULL_TEXT, VECTORS
from bot.sources.github import HYBRID

#: The sources of an index, and those of a search.
INDEX = (FULL_TEXT, VECTORS)
SEARCH = ("github-search", HYBRID)


@dataclass(frozen=True, slots=True)
class Asking:
    """The sources that are asked, all of `INDEX` or all of `SEARCH`, and what a find is asked with.

    `weights` is the text of a file of weights, empty for those that this version comes with; `budget` the number of
    searches by words an issue. With a `floor` each arrival's question to a judge is written down, about candidates
    that are at least so likely; nobody is asked.
    """

    sources: tuple[str, ...] = INDEX
    top: int = 20
    threshold: float = 0.0
    relevance: str = DEFAULT_RELEVANCE
    weights: str = ""
    budget: int = 4
    floor: float | None = None

    @property
    def indexed(self) -> bool:
        return set(self.sources) <= set(INDEX)

    def options(self) -> FindOptions:
        """How the finder is asked about each arrival."""
        return FindOptions(
            threshold=self.threshold,
            max_candidates=self.top,
            relevance=self.relevance,
            state="all",
            earlier_only=True,
            explained=False,
        )
