"""Nothing writes to GitHub unless the server was started with `--allow-writes`."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.client import Client

from bot.app.wiring.indexes import agent_tools
from bot.interfaces.mcp.server import build_server
from bot.platform.call_tracker import ToolCallTracker
from bot.platform.settings import Settings
from bot.simulator import Simulator
from tests.mcp.conftest import READING, answer, ask, error, session


def test_the_tool_is_not_even_there(server: Any, sim: Simulator) -> None:
    assert "close_as_duplicate" in error(ask(server, "close_as_duplicate", number=3, original=1))
    assert sim.issue("acme/app", 3).state == "open"


@pytest.fixture
def writing(settings: Settings) -> Any:
    return build_server(agent_tools(settings), allow_writes=True)


def test_it_is_offered_as_what_it_is(writing: Any) -> None:
    with session(Client(writing)) as client:
        tools = {tool.name: tool for tool in client.list_tools().tools}
        assert set(tools) == READING - {"dedupe_playbook"} | {"close_as_duplicate"}
        hints = tools["close_as_duplicate"].annotations
        assert hints is not None
        assert (hints.read_only_hint, hints.destructive_hint) == (False, True)


def test_it_closes_in_favour_of_an_older_one_and_is_never_answered_from_memory(
    writing: Any, sim: Simulator, tracker: ToolCallTracker
) -> None:
    with session(Client(writing)) as client:
        for _ in range(2):
            closed = answer(client.call_tool("close_as_duplicate", {"number": 3, "original": 1}))
            assert (closed["number"], closed["original"], closed["cached"]) == (3, 1, False)
    issue = sim.issue("acme/app", 3)
    assert (issue.state, issue.state_reason) == ("closed", "duplicate")
    assert tracker.get_stats()["total_calls"] == 0


def test_what_the_session_was_told_before_is_not_repeated_afterwards(writing: Any) -> None:
    with session(Client(writing)) as client:
        before = answer(client.call_tool("find_duplicates", {"number": 1}))
        assert [(one["number"], one["state"]) for one in before["candidates"]] == [(3, "open")]
        answer(client.call_tool("close_as_duplicate", {"number": 3, "original": 1}))
        after = answer(client.call_tool("find_duplicates", {"number": 1}))
        assert (after["candidates"], after["cached"]) == ([], False)


@pytest.mark.parametrize(
    ("number", "original", "said"),
    [(1, 3, "newer"), (3, 3, "the issue itself"), (3, 99, "#99"), (3, 4, "newer"), (3, True, "original")],
)
def test_what_it_refuses(writing: Any, sim: Simulator, number: int, original: int, said: str) -> None:
    assert said in error(ask(writing, "close_as_duplicate", number=number, original=original))
    assert sim.issue("acme/app", 3).state == "open"


def test_pull_requests_are_no_duplicates(writing: Any, sim: Simulator) -> None:
    sim.open_issue("acme/app", "erin", "Fix the index", "", is_pull_request=True)
    sim.open_issue("acme/app", "erin", "Index out of range again", "")
    assert "number: is a pull request" in error(ask(writing, "close_as_duplicate", number=5, original=1))
    assert "original: is a pull request" in error(ask(writing, "close_as_duplicate", number=6, original=5))
    assert [sim.issue("acme/app", number).state for number in (5, 6)] == ["open", "open"]


def test_an_original_that_is_closed_leads_on(writing: Any, sim: Simulator) -> None:
    answer(ask(writing, "close_as_duplicate", number=3, original=1))
    sim.open_issue("acme/app", "erin", "Index out of range again", "")
    assert "it is a duplicate of acme/app#1" in error(ask(writing, "close_as_duplicate", number=5, original=3))
