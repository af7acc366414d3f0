"""Asking about the backlog in this process or in several: nothing stays open that was opened for it."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.quality.scanning.scan import FEW, PART, BacklogMatcher, match_in_processes
from bot.search.index import Index, IndexedIssue, TextAnalyser
from bot.search.matching import shipped_model
from bot.storage.engine import make_engine
from bot.storage.migrate import migrate
from tests.calling import is_deaf_to_ctrl_c

REPO = 1


class Making:
    """Makes what asks, each time with a database connection of its own; can be sent to other processes."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.engines: list[sa.Engine] = []

    def __call__(self) -> BacklogMatcher:
        self.engines.append(make_engine(self.url))
        return BacklogMatcher(Index(self.engines[-1], TextAnalyser()), shipped_model())

    @property
    def connections(self) -> int:
        """How many are open in this process."""
        pools = [engine.pool for engine in self.engines]
        return sum(pool.checkedin() + pool.checkedout() for pool in pools if isinstance(pool, sa.QueuePool))


@pytest.fixture
def making(tmp_path: Path) -> Making:
    url = f"sqlite:///{tmp_path / 'index.db'}"
    engine = make_engine(url)
    migrate(engine)
    numbers = range(2, FEW + 3)
    issues = [
        IndexedIssue(number, f"Crash in part{number // 2}", "When it starts.", author=f"user{number}")
        for number in numbers
    ]
    Index(engine, TextAnalyser()).put(REPO, issues)
    engine.dispose()
    return Making(url)


@pytest.mark.slow
def test_a_few_are_asked_about_here_and_the_database_is_closed(making: Making) -> None:
    parts = match_in_processes(making, REPO, range(2, FEW + 2), processes=2)
    answers = next(parts)
    assert making.connections > 0
    assert [answer.number for answer in answers] == list(range(2, PART + 2)), "a stop costs no more than these"
    assert [found.number for found in answers[1].found] == [2]
    assert [answer.number for part in parts for answer in part] == list(range(PART + 2, FEW + 2))
    assert len(making.engines) == 1
    assert making.connections == 0


def test_the_database_is_closed_when_the_answers_are_not_wanted_any_more(making: Making) -> None:
    parts = match_in_processes(making, REPO, [2, 3], processes=2)
    next(parts)
    parts.close()  # type: ignore[attr-defined]
    assert making.connections == 0


@pytest.mark.processes
def test_more_are_asked_about_in_processes_and_none_is_left_out(making: Making) -> None:
    numbers = range(2, FEW + 3)
    rest = match_in_processes(making, REPO, numbers, processes=2)
    first = next(rest)
    # Ctrl-C in a terminal is heard by the process that ends them: who is interrupted says so with a traceback.
    assert (started := multiprocessing.active_children())
    assert all(is_deaf_to_ctrl_c(one.pid) for one in started if one.pid)
    parts = [first, *rest]
    assert max(map(len, parts)) == PART
    assert sorted(answer.number for part in parts for answer in part) == list(numbers)
    assert making.engines == []
