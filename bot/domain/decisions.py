"""The bot's decisions and their evidence. The bot makes one decision each time it looks at an issue or skips it. Pure.

The handlers make decisions; the store keeps them as JSON. A decision holds no text of an issue: reasons are codes, and
callers that show a title read the title from the index.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from pydantic import TypeAdapter

from bot.domain.entities import name_key
from bot.domain.report import Candidate, Evidence, Report

COMMAND = "command"
"""The `cause` of a decision if a person asked by command."""
REFUSED = "GitHub refused"
"""The first words of a decision's `reason` if GitHub refused the comment."""


class DecisionOutcome(StrEnum):
    """The result of a decision: what happened to the bot's comment on the issue.

    `EDITED`: the comment has a new text. `UNCHANGED`: the comment keeps its text. `SHADOW`: only
    `mode: shadow` kept the bot from posting a comment. `SILENT`: the bot searched, but posted
    nothing. `LEFT_ALONE`: it skipped the issue, or GitHub refused the comment.
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

    `cause` is `command`, `verdict` (an update after `not`, `undo`, `unmute` or an unlocking), or the action of an
    `issues` event. `mode` is the repository's setting. `reason` says why the bot posted nothing. A candidate below
    the probability `threshold` does not count as shown, even if a command's answer lists it.
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
        """This repository's issues that the comment lists (in shadow mode: would list) as likely enough, best first."""
        return tuple(item for item in self.evidence if item.shown and item.own)

    def about(self, number: int) -> Evidence | None:
        """The evidence about an issue or its group; None if the issue was not among the best candidates."""
        return next((item for item in self.evidence if item.is_about(number)), None)


_EVIDENCE = TypeAdapter(tuple[Evidence, ...])


def dump(evidence: Sequence[Evidence]) -> str:
    """The evidence as JSON, for the store. Fields that have their default are left out."""
    return _EVIDENCE.dump_json(tuple(evidence), exclude_defaults=True).decode()


def load(text: str) -> tuple[Evidence, ...]:
    """Read the JSON that `dump` wrote. Fields that only a later version of the bot knows are ignored."""
    return _EVIDENCE.validate_json(text)


ALSO_MOST = 10
"""The store keeps at most this many members of a candidate's group of duplicates, besides the candidate itself."""


def evidence(report: Report, shown: Iterable[Candidate]) -> tuple[Evidence, ...]:
    """A report's best candidates, to store. Marks the `shown` candidates, and rounds probabilities and similarities."""
    shown_keys = {_key(candidate) for candidate in shown}
    return tuple(
        replace(
            item,
            shown=_key(item) in shown_keys,
            also=item.also[:ALSO_MOST],
            probability=round(item.probability, 4),
            titles=(round(item.titles[0], 3), round(item.titles[1], 3)),
            unjudged=None if item.unjudged is None else round(item.unjudged, 4),  # probability without the verdict
        )
        for item in report.considered
    )


def _key(item: Candidate | Evidence) -> tuple[str, str, int]:
    return item.kind, name_key(item.repo), item.number
