"""The judge's question and answer as values (J3): a language model that reads both issues. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from bot.domain.errors import Remark

JUDGE = "judge"
"""Its name among the sources of problems (F9)."""

MOST_JUDGED = 5
"""The most candidates in one question (J2)."""


class JudgeVerdict(StrEnum):
    """`SAME`: one fix or decision settles both. `RELATED`: whoever triages one should see the other."""

    SAME = "same"
    RELATED = "related"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A verdict with the model's own words, which are as hostile as a stranger's text."""

    verdict: JudgeVerdict
    shared_cause: str = ""
    differs: str = ""


@dataclass(frozen=True, slots=True)
class JudgeIssue:
    """An issue as the judge reads it; `body` lacks the lines of issue forms."""

    number: int
    title: str
    body: str
    state: str
    created_at: datetime
    closed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class JudgeQuestion:
    """An issue, and the earlier ones that it may repeat."""

    target: JudgeIssue
    candidates: tuple[JudgeIssue, ...]


@dataclass(frozen=True, slots=True)
class JudgeAnswer:
    """The judge's verdicts by candidate's number, as far as it gave any.

    `by` names model and prompt; `problem` says why there is no answer.
    """

    said: Mapping[int, JudgedPair] = field(default_factory=dict)
    by: str = ""
    problem: Remark | None = None


@dataclass(frozen=True, slots=True)
class JudgeLimits:
    """Budgets: calls and tokens a day for the host and for each repository, and calls an hour for an author."""

    calls: int
    tokens: int
    calls_each: int
    tokens_each: int
    calls_author: int
