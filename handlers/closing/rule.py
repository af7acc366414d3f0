"""Whether an issue is closed by itself, some days after its comment has announced that (`close_after`). Pure.

It takes a person's word: the author's 👍 on the comment, or the label `duplicate` set by somebody with triage access,
since it was announced. And anybody's word prevents it: a 👎, a comment, or that they opened the issue again.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

DAY = 86_400.0

PATIENCE = 30 * DAY
"""Seconds after the announced time for which somebody's word is waited for."""


class Step(Enum):
    """`WAIT` asks again later; `OVER` never again."""

    CLOSE = auto()
    WAIT = auto()
    OVER = auto()


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known when the time may have come; times are seconds since 1970, `days` those of the announcement.

    `wanted`: the settings still say so. `is_open`: the issue is open and not locked. `muted`: it is to be left alone.
    `announced`: the comment stands and still names the target first. `rejected`: somebody said that the two differ.
    `target_*` are about the issue in whose favour this one would be closed; `circle`: that one is itself a duplicate of
    this. `heard`: GitHub has told the votes, of which `against` counts the 👎 of anybody. `comments` counts those of
    people since the announcement. `reopened`: somebody has opened it again since, whoever had closed it; after a backup
    was restored that may have been the bot. `author_agrees`: the author's 👍 since then. `labelled`: somebody with
    triage access has set the label since.
    """

    now: float
    since: float
    days: int
    wanted: bool = True
    is_open: bool = True
    muted: bool = False
    announced: bool = True
    rejected: bool = False
    target_open: bool = True
    target_older: bool = True
    circle: bool = False
    heard: bool = True
    against: int = 0
    comments: int = 0
    reopened: bool = False
    author_agrees: bool = False
    labelled: bool = False


def decide(facts: Facts) -> tuple[Step, str]:
    """What to do, and why, in words for the log."""
    prevents = {
        "the settings do not want it any more": not facts.wanted,
        "it is closed or locked": not facts.is_open,
        "it is muted": facts.muted,
        "the comment does not announce it any more": not facts.announced,
        "somebody said that the two differ": facts.rejected,
        "the other issue is not open": not facts.target_open,
        "the other issue is newer": not facts.target_older,
        "the other issue repeats this one": facts.circle,
        "somebody voted against it": facts.against > 0,
        "somebody commented": facts.comments > 0,
        "somebody has opened it again": facts.reopened,
    }
    reason = next((words for words, holds in prevents.items() if holds), "")
    if reason:
        return Step.OVER, reason
    due = facts.since + facts.days * DAY
    if facts.now < due:
        return Step.WAIT, "its time has not come"
    if facts.heard and (facts.author_agrees or facts.labelled):
        return Step.CLOSE, "the author agrees" if facts.author_agrees else "it was labelled"
    if facts.now >= due + PATIENCE:
        return Step.OVER, "nobody has agreed"
    return Step.WAIT, "nobody has agreed yet" if facts.heard else "GitHub does not tell the votes"
