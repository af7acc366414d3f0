"""What a judge that reads both texts says of two issues (J3), as values. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from bot.domain.errors import Remark

JUDGE = "judge"
"""Its name among those that can fail (F9)."""

MOST_JUDGED = 5
"""Candidates in one question (J2)."""


class JudgeVerdict(StrEnum):
    """`SAME`: one fix or one decision settles both. `RELATED`: whoever triages one is glad to see the other."""

    SAME = "same"
    RELATED = "related"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A verdict, and in a model's words what both share or what sets them apart: hostile, like a stranger's text."""

    verdict: JudgeVerdict
    shared_cause: str = ""
    differs: str = ""


@dataclass(frozen=True, slots=True)
class JudgeIssue:
    """An issue as the judge reads it; `body` is without what forms supply, line by line."""

    number: int
    title: str
    body: str
    state: str
    created_at: datetime
    closed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class JudgeQuestion:
    """One issue, and the earlier ones that it may repeat."""

    target: JudgeIssue
    candidates: tuple[JudgeIssue, ...]


@dataclass(frozen=True, slots=True)
class JudgeAnswer:
    """What the judge says of each candidate, by number; of those that are missing it says nothing.

    `by` names the model and the prompt. Where there is no answer `problem` says why.
    """

    said: Mapping[int, JudgedPair] = field(default_factory=dict)
    by: str = ""
    problem: Remark | None = None


@dataclass(frozen=True, slots=True)
class JudgeLimits:
    """The most calls and tokens of a day, for the host and for each repository, and calls of an hour for an author."""

    calls: int
    tokens: int
    calls_each: int
    tokens_each: int
    calls_author: int
