"""The question to the judge and the judge's answer (J3). Pure.

The judge is a language model that reads both issues of a pair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from bot.domain.errors import Remark

JUDGE = "judge"
"""The judge's name in a report's problems (F9)."""

MOST_JUDGED = 5
"""The most candidates in a question (J2)."""


class JudgeVerdict(StrEnum):
    """`SAME`: one fix or decision settles both issues. `RELATED`: people who triage one issue should see the other."""

    SAME = "same"
    RELATED = "related"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A verdict on one pair. Treat `shared_cause` and `differs` as hostile: the model had read strangers' texts."""

    verdict: JudgeVerdict
    shared_cause: str = ""
    differs: str = ""


@dataclass(frozen=True, slots=True)
class JudgeIssue:
    """An issue as the judge reads it. `body` omits the fixed lines of issue forms."""

    number: int
    title: str
    body: str
    state: str
    created_at: datetime
    closed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class JudgeQuestion:
    """An issue, and the earlier issues that it may repeat."""

    target: JudgeIssue
    candidates: tuple[JudgeIssue, ...]


@dataclass(frozen=True, slots=True)
class JudgeAnswer:
    """The judge's verdicts (`said`), by candidate number.

    `by` names the model and the prompts. `problem` says why some or all candidates have no verdict.
    """

    said: Mapping[int, JudgedPair] = field(default_factory=dict)
    by: str = ""
    problem: Remark | None = None


@dataclass(frozen=True, slots=True)
class JudgeLimits:
    """The judge's budgets.

    `calls` and `tokens` are per day for the host. `calls_each` and `tokens_each` are per day for each repository.
    `calls_author` is per hour for each author.
    """

    calls: int
    tokens: int
    calls_each: int
    tokens_each: int
    calls_author: int
