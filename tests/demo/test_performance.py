"""How long the demo waits before it begins."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from bot.demo.events import Event, Progress
from bot.demo.performance import MOST_WAITED_FOR, wait_for_index
from bot.index.backfill import Progress as Filled


def told(bot: Any, count: int) -> str:
    events: list[Event] = []
    wait_for_index(bot, 1, count, events.append)
    return "\n".join(event.what for event in events if isinstance(event, Progress))


def test_few_issues_are_waited_for_until_all_are_in_the_index() -> None:
    progress = iter([None, Filled(seen=100), Filled(seen=MOST_WAITED_FOR), Filled(seen=MOST_WAITED_FOR, done=True)])
    last: list[Any] = [None]

    def at_present(repo_id: int) -> Any:
        last[0] = next(progress, last[0])
        return last[0]

    bot = SimpleNamespace(progress=at_present, check=lambda: None)
    assert "2,000 issues indexed in" in told(bot, MOST_WAITED_FOR)
    assert last[0].done


def test_many_are_not() -> None:
    assert "2,001 issues are read into the bot's index meanwhile" in told(SimpleNamespace(), MOST_WAITED_FOR + 1)
