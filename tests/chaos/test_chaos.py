"""A short chaos run on both databases; `python -m bench.chaos` is the long one, with 2,000 deliveries."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench.chaos.__main__ import BROKEN, SHORT, table
from bench.chaos.run import perform

pytestmark = pytest.mark.processes


@pytest.mark.parametrize(
    "postgres", [False, pytest.param(True, marks=pytest.mark.postgres)], ids=["sqlite", "postgres"]
)
def test_nothing_is_lost_doubled_or_wrong_whatever_goes_wrong(postgres: bool, tmp_path: Path) -> None:
    plan = replace(SHORT, postgres=postgres, workers=2 if postgres else 1)
    result = perform(plan, tmp_path)
    assert result.judgement.well, table(plan, result)
    # It was no calm day.
    assert sum(result.kills.values()) >= 2
    assert len(result.calamities) == 7
    assert sum("stood still" in one for one in result.calamities) == 1
    assert sum(result.faults.values()) >= 1


def test_without_what_makes_it_safe_to_try_again_the_run_is_red(tmp_path: Path) -> None:
    """The bot is broken on purpose: it neither remembers nor looks whether its comment is already there."""
    assert perform(BROKEN, tmp_path).judgement.doubled
