"""How sure the bot is, where a test asks what it does from which probability on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.report import Report
from handlers import finding


def sure(monkeypatch: pytest.MonkeyPatch, confidence: float) -> None:
    """Whatever the bot finds from now on is the same with this probability."""

    def find(*arguments: Any, **options: Any) -> Report:
        report = finding.find(*arguments, **options)
        return replace(report, candidates=tuple(replace(one, confidence=confidence) for one in report.candidates))

    for module in ("advice.advice", "commands.looking"):
        monkeypatch.setattr(f"handlers.{module}.find", find)
