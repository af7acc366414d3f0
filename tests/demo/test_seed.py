"""The demo repository as the simulator has it: everything of the file, and always of these days."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.app.demo.scenario import REPOSITORY, seed
from bot.simulator import Clock, Simulator


@pytest.mark.parametrize("year", [2025, 2031])
def test_the_newest_issue_is_a_few_days_old_in_any_year(year: int) -> None:
    simulator = Simulator(clock=Clock(datetime(year, 6, 1, 12, tzinfo=UTC)))
    assert seed(simulator, REPOSITORY) == 176
    issues = list(simulator.issues_of(simulator.repository(REPOSITORY)))
    age = simulator.now() - issues[-1].created_at
    assert timedelta(days=3) <= age < timedelta(days=4)
    assert 600 < (issues[-1].created_at - issues[0].created_at).days < 900
    for issue in issues:
        times = [issue.created_at, *(comment.created_at for comment in issue.comments)]
        assert times == sorted(times) and issue.updated_at >= times[-1]
        assert issue.closed_at is None or issue.created_at < issue.closed_at <= issue.updated_at
