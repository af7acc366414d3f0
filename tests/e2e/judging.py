"""How sure the bot is, where a test asks what it does from which probability on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.domain.likelihood import Likelihood
from bot.domain.report import Report
from handlers.context import IssueContext


def sure(monkeypatch: pytest.MonkeyPatch, confidence: float) -> None:
    """Whatever the bot finds from now on is the same with this probability."""

    really_find = IssueContext.find

    def find(context: IssueContext, *arguments: Any, **options: Any) -> Report:
        report = really_find(context, *arguments, **options)
        return replace(report, candidates=tuple(replace(one, confidence=confidence) for one in report.candidates))

    monkeypatch.setattr(IssueContext, "find", find)


def certain_from(monkeypatch: pytest.MonkeyPatch, least: float) -> None:
    """What has this probability at least is very likely: what the model makes of two made-up issues is not tested."""

    def word(probability: float, likely: float = 0.0) -> Likelihood:
        return Likelihood.VERY_LIKELY if probability >= least else Likelihood.POSSIBLY

    monkeypatch.setattr("handlers.suggestions.likelihood", word)
