"""What the bot decided each time that it searched for earlier reports of an issue, and on what evidence. Pure.

The handlers make decisions; the store keeps them as JSON. A decision holds no text of an issue: reasons are codes, and
callers that show a title read the title from the index.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from bot.domain.entities import name_key
from bot.domain.report import Candidate, Evidence, Report

COMMAND = "command"
"""The `cause` of a decision if a person asked by command."""
REFUSED = "GitHub refused"
"""The first words of a decision's `reason` if GitHub refused the comment."""


class DecisionOutcome(StrEnum):
    """What happened to the comment.

    `EDITED`: the comment has a new text. `UNCHANGED`: the comment keeps its text. `SHADOW`: outside `mode: shadow`, the
    bot would have posted a comment. `SILENT`: the bot had nothing to say. `LEFT_ALONE`: the bot skipped the issue.
    """

    POSTED = "posted"
    EDITED = "edited"
    UNCHANGED = "unchanged"
    SHADOW = "shadow"
    SILENT = "silent"
    LEFT_ALONE = "left alone"

    @property
    def speaks(self) -> bool:
        """Whether the issue has a comment, or would have one outside `mode: shadow`."""
        return self.seen or self is DecisionOutcome.SHADOW

    @property
    def seen(self) -> bool:
        """Whether the issue has a comment that people can read."""
        return self in (DecisionOutcome.POSTED, DecisionOutcome.EDITED, DecisionOutcome.UNCHANGED)


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision about issue `number`. `at` is in seconds since 1970.

    `cause` says why the bot searched: the action of an `issues` event, such as `opened`, or `command`. `mode` is the
    repository's setting. `reason` says why the bot stayed silent. `threshold` is the lowest probability of a candidate
    that the comment lists.
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
        """The candidates of this repository that the comment lists, or would list, best first."""
        return tuple(item for item in self.evidence if item.shown and item.own)

    def about(self, number: int) -> Evidence | None:
        """The evidence about an issue or its group; None if the issue was not among the best candidates."""
        return next((item for item in self.evidence if item.is_about(number)), None)

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
            "evidence": [_plain(item) for item in self.evidence],
        }


def dump(evidence: Sequence[Evidence]) -> str:
    """The evidence as JSON, for the store."""
    return json.dumps([_plain(item) for item in evidence], separators=(",", ":"))


def load(text: str) -> tuple[Evidence, ...]:
    """Read the JSON that `dump` wrote. Fields that only a later version of the bot knows are ignored."""
    known = Evidence.__slots__
    items = []
    for row in json.loads(text):
        values = {name: row[name] for name in known if name in row}
        for name in ("titles", "reasons", "also"):
            if name in values:
                values[name] = tuple(values[name])
        items.append(Evidence(**values))
    return tuple(items)


def _plain(item: Evidence) -> dict[str, Any]:
    """Plain values for JSON. Most fields that have their default are left out."""
    row: dict[str, Any] = {
        "number": item.number,
        "probability": round(item.probability, 4),
        "rank": item.rank,
        "shown": item.shown,
        "sources": dict(item.sources),
        "titles": [round(value, 3) for value in item.titles],
    }
    row |= {"reasons": list(item.reasons)} if item.reasons else {}
    row |= {"also": list(item.also)} if item.also else {}
    row |= {"kind": item.kind} if item.kind != "issue" else {}
    row |= {"repo": item.repo} if item.repo else {}
    if item.verdict and item.unjudged is not None:
        row |= {"verdict": item.verdict, "judged_by": item.judged_by, "unjudged": round(item.unjudged, 4)}
    return row


ALSO_MOST = 10
"""Of a candidate's group of duplicates, at most this many further members are stored."""


def evidence(report: Report, shown: Iterable[Candidate]) -> tuple[Evidence, ...]:
    """The evidence to store: a report's best candidates. Those that the comment lists (`shown`) are marked."""
    shown_keys = {_key(candidate) for candidate in shown}
    return tuple(
        replace(item, shown=_key(item) in shown_keys, also=item.also[:ALSO_MOST]) for item in report.considered
    )


def _key(item: Candidate | Evidence) -> tuple[str, str, int]:
    return item.kind, name_key(item.repo), item.number
