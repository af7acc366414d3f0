"""What a look at one issue decided, with its evidence, as a value and as compact JSON. Pure.

It holds no text of an issue: titles are read from the index when they are shown, and a reason is kept by its code.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from bot.domain.entities import name_key
from bot.domain.report import Candidate, Considered, Report

COMMAND = "command"
"""The cause of a look that a command asked for."""
REFUSED = "GitHub refused"
"""How the reason begins if GitHub refused the comment."""


class DecisionOutcome(StrEnum):
    """What became of the comment.

    `EDITED`: it says something else now. `UNCHANGED`: it says the same. `SHADOW`: it would have been posted. `SILENT`:
    there was nothing to say. `LEFT_ALONE`: the issue was skipped.
    """

    POSTED = "posted"
    EDITED = "edited"
    UNCHANGED = "unchanged"
    SHADOW = "shadow"
    SILENT = "silent"
    LEFT_ALONE = "left alone"

    @property
    def speaks(self) -> bool:
        """Whether there is, or in `mode: shadow` would be, a comment."""
        return self.seen or self is DecisionOutcome.SHADOW

    @property
    def seen(self) -> bool:
        """Whether there is a comment that people can read."""
        return self in (DecisionOutcome.POSTED, DecisionOutcome.EDITED, DecisionOutcome.UNCHANGED)


@dataclass(frozen=True, slots=True)
class Evidence:
    """One candidate: its probability in [0, 1], and its rank in each source that found it (None: by a duplicate of it).

    `rank` is its place among all candidates, from 1; `shown` whether the comment names it, or would. `titles` are the
    two scores of the titles, by letters and by words; `reasons` are codes. `repo` is OWNER/REPO of another repository.
    `verdict` is what the judge called `judged_by` said, `unjudged` the probability without that.
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
        """Whether it is an issue of this repository, which its number identifies."""
        return self.kind == "issue" and not self.repo

    def is_about(self, number: int) -> bool:
        """Whether this is that issue, or the group that it belongs to."""
        return self.own and (number == self.number or number in self.also)


@dataclass(frozen=True, slots=True)
class Decision:
    """What a look at issue `number` decided, at a time in seconds since 1970.

    `cause` is what made the bot look (an action of `issues`, or `command`), `mode` the repository's, `reason` why it
    said nothing, and `threshold` the least probability of candidates that were shown.
    """

    number: int
    at: float
    cause: str
    mode: str
    outcome: DecisionOutcome
    threshold: float
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()

    @property
    def shown(self) -> tuple[Evidence, ...]:
        """The candidates of the same repository that the comment names, or would, best first."""
        return tuple(one for one in self.evidence if one.shown and one.own)

    def about(self, number: int) -> Evidence | None:
        """The evidence on one issue or its group; None if it was not among the best."""
        return next((one for one in self.evidence if one.is_about(number)), None)

    def to_json(self) -> dict[str, Any]:
        """Plain values for `json.dumps`."""
        return {
            "number": self.number,
            "at": self.at,
            "cause": self.cause,
            "mode": self.mode,
            "outcome": self.outcome.value,
            "reason": self.reason,
            "bar": self.threshold,
            "evidence": [_plain(one) for one in self.evidence],
        }


def dump(evidence: Sequence[Evidence]) -> str:
    """Evidence as it is stored."""
    return json.dumps([_plain(one) for one in evidence], separators=(",", ":"))


def load(text: str) -> tuple[Evidence, ...]:
    """Read what `dump` wrote, without fields of a later version."""
    known = Evidence.__slots__
    made = []
    for row in json.loads(text):
        values = {name: row[name] for name in known if name in row}
        for name in ("titles", "reasons", "also"):
            if name in values:
                values[name] = tuple(values[name])
        made.append(Evidence(**values))
    return tuple(made)


def _plain(one: Evidence) -> dict[str, Any]:
    """Without defaults, since there are many of them."""
    row: dict[str, Any] = {
        "number": one.number,
        "probability": round(one.probability, 4),
        "rank": one.rank,
        "shown": one.shown,
        "sources": dict(one.sources),
        "titles": [round(value, 3) for value in one.titles],
    }
    row |= {"reasons": list(one.reasons)} if one.reasons else {}
    row |= {"also": list(one.also)} if one.also else {}
    row |= {"kind": one.kind} if one.kind != "issue" else {}
    row |= {"repo": one.repo} if one.repo else {}
    if one.verdict and one.unjudged is not None:
        row |= {"verdict": one.verdict, "judged_by": one.judged_by, "unjudged": round(one.unjudged, 4)}
    return row


ALSO_MOST = 10
"""How many members of a candidate's group are kept."""


def evidence(report: Report, shown: Iterable[Candidate]) -> tuple[Evidence, ...]:
    """The best candidates of a report; the comment names those that are `shown`."""
    named = {_key(one) for one in shown}
    return tuple(
        Evidence(
            number=one.number,
            probability=one.confidence,
            rank=rank,
            shown=_key(one) in named,
            sources={name: one.ranks.get(name) for name in one.sources},
            titles=(one.similarity, one.title_ratio),
            reasons=tuple(reason.shared.value for reason in one.reasons),
            also=one.also[:ALSO_MOST],
            kind=one.kind,
            repo=one.repo,
            verdict=one.verdict or "",
            judged_by=one.judged_by,
            unjudged=one.unjudged,
        )
        for rank, one in enumerate(report.considered, 1)
    )


def _key(one: Candidate | Considered) -> tuple[str, str, int]:
    return one.kind, name_key(one.repo), one.number
