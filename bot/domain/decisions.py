"""One decision as a value, and its evidence, from the finder's report and as compact JSON. Pure.

No text of an issue is in it: titles are read from the index when they are shown, and of a reason only its kind is kept.
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
"""The cause of a look that a person asked for."""


REFUSED = "GitHub refused"
"""How the reason begins where GitHub did not take the comment."""


class Outcome(StrEnum):
    """What a look at an issue came to.

    `POSTED`: the comment was written. `EDITED`: it says something else now. `UNCHANGED`: it says the same. `SHADOW`: it
    would have been written. `SILENT`: there was nothing to say. `LEFT_ALONE`: nobody looked for anything.
    """

    POSTED = "posted"
    EDITED = "edited"
    UNCHANGED = "unchanged"
    SHADOW = "shadow"
    SILENT = "silent"
    LEFT_ALONE = "left alone"

    @property
    def speaks(self) -> bool:
        """Whether people saw something by it, or would have."""
        return self.seen or self is Outcome.SHADOW

    @property
    def seen(self) -> bool:
        """Whether a comment that people can read says it."""
        return self in (Outcome.POSTED, Outcome.EDITED, Outcome.UNCHANGED)


@dataclass(frozen=True, slots=True)
class Evidence:
    """One candidate: its probability in [0, 1], what found it and where it stood there (None: as another of its group).

    `verdict` is what the judge called `judged_by` said of it, `unjudged` its probability without that.
    `rank` is its place among all candidates, from 1; `shown` whether the comment names it, or would. `titles` are the
    two scores of the titles, by letters and by words; `reasons` the kinds of what both issues share. `repo` is
    OWNER/REPO where it is no issue of the same repository, and `kind` what it is.
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
        """Whether its number alone tells which issue it is."""
        return self.kind == "issue" and not self.repo

    def is_about(self, number: int) -> bool:
        """Whether this is the issue of that number, or stands for it."""
        return self.own and (number == self.number or number in self.also)


@dataclass(frozen=True, slots=True)
class Decision:
    """What one look at issue `number` came to, at a time in seconds since 1970.

    `cause` is what made the bot look (an action of `issues`, or `command`), `mode` the repository's, `reason` why it
    said nothing, and `threshold` the probability from which on candidates were shown.
    """

    number: int
    at: float
    cause: str
    mode: str
    outcome: Outcome
    threshold: float
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()

    @property
    def shown(self) -> tuple[Evidence, ...]:
        """The candidates of the same repository that the comment names, or would, best first."""
        return tuple(one for one in self.evidence if one.shown and one.own)

    def about(self, number: int) -> Evidence | None:
        """The evidence on one issue, or on what stands for it; None where it was not among the best."""
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
    """What `dump` wrote. Fields that a later version added are left aside."""
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
    """Without what is as usual, since there are many of them."""
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
"""Members of a candidate's group that are kept by number."""


def evidence(report: Report, shown: Iterable[Candidate]) -> tuple[Evidence, ...]:
    """The best candidates of a report, of which the comment names those that are `shown`."""
    named = {_key(one) for one in shown}
    return tuple(
        Evidence(
            number=one.number,
            probability=one.confidence,
            rank=rank,
            shown=_key(one) in named,
            sources={name: one.ranks.get(name) for name in one.sources},
            titles=(one.similarity, one.title_ratio),
            # The words of the issues that a reason quotes are not kept.
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
