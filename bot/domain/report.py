"""The finder's answer: candidates, their evidence, and what could not be searched (F7, F9)."""

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
    """What two issues have in common, strongest first; then GitHub's opinion, and a difference."""

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
    """One reason (C3) with the error message or the words that it quotes. As a string it is an English sentence.

    The quotes are hostile text; `bot/conversation/render/` escapes them.
    """

    shared: ReasonCode
    quoted: tuple[str, ...] = ()

    def __str__(self) -> str:
        return _ENGLISH[self.shared].format(", ".join(self.quoted))


ItemKind = Literal["issue", "pull request", "discussion"]


INDEX = ("full-text", "vectors")
"""The sources of a repository's own index; the first one always answers."""


class SearchOutcome(StrEnum):
    """F9. `degraded` wins over `found` and `none`: an outage is never presented as "no duplicates"."""

    FOUND = "found"
    NONE = "none"
    INCONCLUSIVE = "inconclusive"
    DEGRADED = "degraded"


@dataclass(frozen=True, slots=True)
class QueryRun:
    """One query to one source.

    `hits` is the source's own total count, None without an answer; `problem` says why. `later` is whether a limit or an
    outage prevented an answer that may come later. `cached` is the time of day of an answer from the cache (T2).
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
    """An earlier issue that may report the same thing, or a pull request or discussion about it.

    `similarity` is Dice-Sorensen of the titles (F5), `title_ratio` rapidfuzz's token ratio, both in [0, 1]; `relevance`
    is what the ranking sorted by; `confidence` the probability that it is the same issue, None if no model judged it.
    `reasons` come strongest first; `sources` name every source that found it (H2). `repo` is `OWNER/REPO` of another
    repository than the target's. `also` are the numbers of issues there that report the same; `named` is whether the
    target's text names this one. `verdict` is the judge's (J), and `unjudged` the confidence without it.
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
        """Whether it is an issue of the target's repository, which its number identifies."""
        return self.kind == "issue" and not self.repo

    @property
    def source_haystack(self) -> str | None:
        """The first source that found it (H1); None if none did, as in `explain`."""
        return self.sources[0] if self.sources else None

    @property
    def regression(self) -> bool:
        """Whether it was fixed once, so that the problem may be back."""
        return self.kind == "issue" and self.state == "closed" and self.state_reason == "completed"


_JUDGED = ("verdict", "unjudged")

MENTION_FROM = 0.05
"""The least probability of an issue that is mentioned to whoever asks; from here on the reasons are known."""


@dataclass(frozen=True, slots=True)
class Considered:
    """One of the best candidates, shown or not: the evidence of a decision.

    `ranks` are its places (from 1) in the best list of each source; a source that only found another issue of its group
    has none. `repo`, `also` and `reasons` are as in `Candidate`; reasons are known from `MENTION_FROM` on. `verdict` is
    what the judge called `judged_by` said, and `unjudged` the confidence without it.
    """

    number: int
    confidence: float
    similarity: float
    title_ratio: float
    sources: tuple[str, ...]
    ranks: Mapping[str, int]
    kind: ItemKind = "issue"
    repo: str = ""
    also: tuple[int, ...] = ()
    reasons: tuple[Reason, ...] = ()
    verdict: JudgeVerdict | None = None
    judged_by: str = ""
    unjudged: float | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """The answer of `find_duplicates`. `problems` names each source that failed, and why.

    `best_confidence` is the highest probability of all compared issues, shown or not; None without any. `considered`
    are the best of them, which the public shape omits. `not_asked` are sources that the caller wanted and that are
    switched off, forbidden, or without an index.
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
    considered: tuple[Considered, ...] = ()
    not_asked: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[str, ...]:
        """The sources that failed, each once."""
        return tuple(dict.fromkeys(problem.source for problem in self.problems if not problem.skipped))

    @property
    def indexed(self) -> bool:
        """Whether the repository's own index has answered; then no search of GitHub's is needed."""
        return any(run.source == INDEX[0] for run in self.queries)

    @property
    def doubts(self) -> tuple[SourceProblem, ...]:
        """The problems that may hide a candidate: if the index answered, only its own (F8b). A judge hides none."""
        wrong = (one for one in self.problems if not one.skipped and one.source != JUDGE)
        return tuple(one for one in wrong if not self.indexed or one.source in INDEX)

    @property
    def doubtful(self) -> bool:
        """Whether readers must be told that something may be missing."""
        return self.outcome is SearchOutcome.DEGRADED and bool(self.doubts)

    def of_sources(self, names: Collection[str]) -> Report:
        """The report with only the candidates of these sources (H4)."""
        candidates = tuple(one for one in self.candidates if not set(names).isdisjoint(one.sources))
        heard = {run.source for run in self.queries if run.hits is not None} | set(self.failed)
        not_asked = tuple(name for name in names if name not in heard)
        outcome = SearchOutcome.NONE if self.outcome is SearchOutcome.FOUND and not candidates else self.outcome
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
                **{name: value for name, value in asdict(one).items() if value is not None or name not in _JUDGED},
                "reasons": [str(reason) for reason in one.reasons],
                "created_at": one.created_at.isoformat(),
                "closed_at": one.closed_at and one.closed_at.isoformat(),
                "source_haystack": one.source_haystack,
                "regression": one.regression,
            }
            for one in self.candidates
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
