"""The answer of the finder: what was found, by what, and how far it can be trusted (F7, F9)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from bot.model import State


class Outcome(StrEnum):
    """F9. `degraded` wins over `found` and `none`: an outage is never presented as "no duplicates"."""

    FOUND = "found"
    NONE = "none"
    INCONCLUSIVE = "inconclusive"
    DEGRADED = "degraded"


@dataclass(frozen=True, slots=True)
class QueryRun:
    """One question that was put to one source.

    `hits` is the source's own total count, None where it gave no answer; `problem` says why in words, empty if
    all went well. `later` is whether the same question may be answered later: a limit or an outage kept it from being
    so now. `cached` is the time of day at which the answer was first fetched when it came from the cache (T2),
    empty otherwise.
    """

    source: str
    query: str
    hits: int | None
    problem: str = ""
    incomplete: bool = False
    cached: str = ""
    later: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """An earlier issue that may report the same thing.

    `similarity` is Dice-Sorensen of the titles (F5), `title_ratio` rapidfuzz's token ratio of them, both in [0, 1];
    `relevance` is what the ranking sorted by; `confidence` the probability that it is the same issue, None where no
    model judged it. `reasons` are sentences for people, strongest first; `sources` name every source that found it
    (H2).
    """

    number: int
    title: str
    url: str
    state: State
    state_reason: str | None
    labels: tuple[str, ...]
    created_at: datetime
    similarity: float
    title_ratio: float
    relevance: float
    confidence: float | None = None
    workflow_state: str | None = None
    workflow_state_reason: str = ""
    reasons: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """What `find_duplicates` answers. `problems` names each source that failed, with its reason.

    `best_confidence` is the highest probability of all issues that were compared, shown or not; None where there were
    none.
    """

    repo: str
    number: int
    title: str
    outcome: Outcome
    candidates: tuple[Candidate, ...]
    search_query: str
    queries: tuple[QueryRun, ...]
    problems: tuple[str, ...] = ()
    relevance: str = "title"
    threshold: float = 0.3
    counts: dict[str, int] = field(default_factory=dict)
    best_confidence: float | None = None

    def to_json(self) -> dict[str, Any]:
        """The public shape of F7: `{issue, candidates, candidate_count, search_query, …}`, ready for `json.dumps`."""
        candidates = [
            {**asdict(candidate), "created_at": candidate.created_at.isoformat()} for candidate in self.candidates
        ]
        return {
            "issue": {"repository": self.repo, "number": self.number, "title": self.title},
            "outcome": self.outcome.value,
            "candidates": candidates,
            "candidate_count": len(candidates),
            "search_query": self.search_query,
            "queries": [asdict(query) for query in self.queries],
            "problems": list(self.problems),
            "relevance": self.relevance,
            "threshold": self.threshold,
            "counts": dict(self.counts),
        }
