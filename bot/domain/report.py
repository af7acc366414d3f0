"""The finder's answer about one issue: candidates, their evidence, and the sources that failed (F7, F9)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from bot.domain.entities import State
from bot.domain.errors import Remark, SourceProblem
from bot.domain.judge_protocol import JUDGE, JudgeVerdict


class ReasonCode(StrEnum):
    """Kinds of reasons: shared content, GitHub's verdict, or labels naming different surfaces (app, platform, …)."""

    COPY = "all of the text"
    CAUSE = "cause"
    MESSAGE = "error text"
    IDENTIFIERS = "identifiers"
    TITLES = "words of titles"
    WORDS = "words"
    GITHUB = "GitHub's verdict"
    SURFACE = "another surface"


_ENGLISH = {
    ReasonCode.COPY: "Same title and text, word for word",
    ReasonCode.CAUSE: "Same cause, as a language model read both: “{}”",
    ReasonCode.MESSAGE: "Same error text: “{}”",
    ReasonCode.IDENTIFIERS: "Same identifiers: {}",
    ReasonCode.TITLES: "Same words in both titles: {}",
    ReasonCode.WORDS: "Same words: {}",
    ReasonCode.GITHUB: "GitHub calls it a likely duplicate",
    ReasonCode.SURFACE: "Labelled otherwise: {}",
}


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason (C3) of kind `code`. `quoted` has its words, error text, cause or labels, if any.

    `str` quotes these texts in a sentence. The texts are hostile; `bot/conversation/render/` escapes them.
    """

    code: ReasonCode
    quoted: tuple[str, ...] = ()

    def __str__(self) -> str:
        return _ENGLISH[self.code].format(", ".join(self.quoted))


ItemKind = Literal["issue", "pull request", "discussion"]

INDEX = ("full-text", "vectors")
"""The sources in a repository's own index."""


class SearchOutcome(StrEnum):
    """The outcome of a search (F9). An outage makes it `degraded`: never present an outage as "no duplicates".

    `NONE`: a complete search found nothing. `INCONCLUSIVE`: nothing was found, but the search was incomplete, had
    no usable words, or could ask no source.
    """

    FOUND = "found"
    NONE = "none"
    INCONCLUSIVE = "inconclusive"
    DEGRADED = "degraded"


@dataclass(frozen=True, slots=True)
class QueryRun:
    """A query to a source.

    `hits` is the source's own total count. Without an answer `hits` is None, and `problem` says why. `later` says
    whether the query may succeed later, after a limit or an outage. `incomplete` says that GitHub ran out of time.
    `cached` is the time of day of a cached answer (T2).
    """

    source: str
    query: str
    hits: int | None
    problem: Remark | None = None
    incomplete: bool = False
    cached: str = ""
    later: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """An issue (usually earlier), pull request or discussion that may be about the same thing as the target issue.

    `similarity` is the titles' Dice-Sorensen score (F5), `title_ratio` is rapidfuzz's token ratio, both in [0, 1].
    `relevance` is the ranking's sort key. `confidence` is the probability that target and candidate report the same
    thing; None if unknown. `workflow_state` is the issue's state in a project; `workflow_state_reason` says why GitHub
    gave none. `reasons` come strongest first. `sources` are all sources that found the candidate (H2). `repo` is
    `OWNER/REPO`, empty for the target's own repository. `also` are numbers of issues that report the same thing, in the
    candidate's repository. `named` says whether the target's text names the candidate. `verdict` is the judge's (J);
    `unjudged` is the confidence without the verdict.
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
    reasons: tuple[Reason, ...] = ()
    sources: tuple[str, ...] = ()
    kind: ItemKind = "issue"
    repo: str = ""
    also: tuple[int, ...] = ()
    named: bool = False
    closed_at: datetime | None = None
    verdict: JudgeVerdict | None = None
    unjudged: float | None = None

    @property
    def own(self) -> bool:
        """Whether the candidate is an issue of the target's repository. Then its number identifies it."""
        return self.kind == "issue" and not self.repo

    @property
    def source_haystack(self) -> str | None:
        """The first source that found the candidate (H1). None if no source did, as in `Finder.compare`."""
        return self.sources[0] if self.sources else None

    @property
    def regression(self) -> bool:
        """Whether the candidate was fixed. If so, the target may be a regression."""
        return self.kind == "issue" and self.state == "closed" and self.state_reason == "completed"


# `Report.to_json` writes these fields only if the judge has read the candidate.
_JUDGED = ("verdict", "unjudged")

MENTION_FROM = 0.05
"""A candidate that is not shown needs this probability to get reasons or to be named the nearest issue."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One of the best candidates, shown or not, with its probability in [0, 1]: the evidence of a decision.

    `rank` is the place among all candidates; the best has 1. `sources` maps each source to the candidate's rank
    there, or to None if that source found only a duplicate of the candidate. `shown` says whether the comment lists the
    candidate as likely enough; in shadow mode, whether it would. `titles` are the titles' similarities by letters
    and by words. `reasons` are codes. `also` and `repo` are as in `Candidate`. `verdict` is the judge's. `judged_by`
    names the model and the prompts. `unjudged` is the probability without the verdict.
    """

    number: int
    probability: float
    rank: int
    shown: bool
    sources: Mapping[str, int | None] = field(default_factory=dict)
    titles: tuple[float, float] = (0.0, 0.0)
    reasons: tuple[str, ...] = ()
    also: tuple[int, ...] = ()
    kind: str = "issue"
    repo: str = ""
    verdict: str = ""
    judged_by: str = ""
    unjudged: float | None = None

    @property
    def own(self) -> bool:
        """As in `Candidate`."""
        return self.kind == "issue" and not self.repo

    def is_about(self, number: int) -> bool:
        """Whether the issue `number` is this candidate, or one of the issues that report the same thing (`also`)."""
        return self.own and (number == self.number or number in self.also)


@dataclass(frozen=True, slots=True)
class Report:
    """The answer of `find_duplicates`. `problems` names each source that failed or was skipped, and why.

    `best_confidence` is the highest probability of all compared issues, shown or not; None if no issue was compared.
    `considered` are the best of them. `not_asked` are sources that the caller requested, but that the finder did not
    ask: they are switched off or forbidden, or need an index that does not exist. `search_query` is the first query of
    GitHub's search by words; without one, the first of all. `relevance` names the relevance function, such as "title"
    or "learned"; `Candidate.relevance` is a number. `threshold` is the least similarity of titles (F5). `counts` has
    the numbers of results: `total`, `unique`, `duplicates` (results that repeat another), and each source's.
    """

    repo: str
    number: int
    title: str
    outcome: SearchOutcome
    candidates: tuple[Candidate, ...]
    search_query: str
    queries: tuple[QueryRun, ...]
    problems: tuple[SourceProblem, ...] = ()
    relevance: str = "title"
    threshold: float = 0.3
    counts: dict[str, int] = field(default_factory=dict)
    best_confidence: float | None = None
    considered: tuple[Evidence, ...] = ()
    not_asked: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[str, ...]:
        """The sources that failed, without repetitions."""
        return tuple(dict.fromkeys(problem.source for problem in self.problems if not problem.skipped))

    @property
    def indexed(self) -> bool:
        """Whether the index's full-text search has answered. If so, the report does not depend on GitHub's searches."""
        return any(run.source == INDEX[0] for run in self.queries)

    @property
    def doubts(self) -> tuple[SourceProblem, ...]:
        """The problems that may hide a candidate: once the index has answered, only the index's own problems (F8b).

        The judge's problems hide no candidate.
        """
        failures = (problem for problem in self.problems if not problem.skipped and problem.source != JUDGE)
        return tuple(problem for problem in failures if not self.indexed or problem.source in INDEX)

    @property
    def doubtful(self) -> bool:
        """Whether to tell readers that candidates may be missing."""
        return self.outcome is SearchOutcome.DEGRADED and bool(self.doubts)

    def of_sources(self, names: Collection[str]) -> Report:
        """The report reduced to the candidates of these sources (H4)."""
        candidates = tuple(item for item in self.candidates if not set(names).isdisjoint(item.sources))
        asked = {run.source for run in self.queries if run.hits is not None} | set(self.failed)
        not_asked = tuple(name for name in names if name not in asked)
        outcome = SearchOutcome.NONE if self.outcome is SearchOutcome.FOUND and not candidates else self.outcome
        # If all `names` are in `not_asked`, nobody asked these sources, and the report says nothing about them.
        if not candidates and len(not_asked) == len(set(names)):
            outcome = SearchOutcome.INCONCLUSIVE
        return replace(
            self,
            outcome=outcome,
            not_asked=not_asked,
            candidates=candidates,
            queries=tuple(run for run in self.queries if run.source in names),
        )

    def to_json(self) -> dict[str, Any]:
        """The public shape of F7: `{issue, candidates, candidate_count, search_query, …}`, ready for `json.dumps`."""
        candidates = [
            {
                **{name: value for name, value in asdict(item).items() if not (name in _JUDGED and value is None)},
                "reasons": [str(reason) for reason in item.reasons],
                "created_at": item.created_at.isoformat(),
                "closed_at": item.closed_at and item.closed_at.isoformat(),
                "source_haystack": item.source_haystack,
                "regression": item.regression,
            }
            for item in self.candidates
        ]
        return {
            "issue": {"repository": self.repo, "number": self.number, "title": self.title},
            "outcome": self.outcome.value,
            "candidates": candidates,
            "candidate_count": len(candidates),
            "search_query": self.search_query,
            "queries": [asdict(query) | {"problem": str(query.problem or "")} for query in self.queries],
            "problems": [str(problem) for problem in self.problems],
            "relevance": self.relevance,
            "threshold": self.threshold,
            "counts": dict(self.counts),
            "not_asked": list(self.not_asked),
        }
