"""T1–T5: which calls of the tools are answered from memory, and for whom."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.client import Client

from bot.platform.settings import Settings
from bot.simulator import Simulator
from tests.knowledge.playbooks import entry, playbook
from tests.mcp.conftest import TRACE, answer, fill_index, session

pytestmark = pytest.mark.slow


def test_t2_a_repeated_call_is_marked_cached(server: Any, sim: Simulator) -> None:
    calls: dict[str, dict[str, Any]] = {
        "find_duplicates": {"number": 3},
        "check_draft": {"title": "Index out of range", "body": TRACE},
        "explain_pair": {"number": 3, "other": 1},
        "dedupe_playbook": {"playbook": playbook(patterns=[entry("a"), entry("a")])},
    }
    with session(Client(server)) as client:
        for tool, arguments in calls.items():
            first = answer(client.call_tool(tool, arguments))
            again = answer(client.call_tool(tool, arguments))
            assert (first["cached"], first["note"]) == (False, "")
            assert again["cached"] is True
            assert again["note"].startswith("[Cached result from ")
            assert {**again, "cached": False, "note": ""} == first
        # Another spelling of the same repository, and a default that is named, are the same call.
        same = client.call_tool("find_duplicates", {"number": 3, "repo": "ACME/app", "threshold": 0.3})
        assert answer(same)["cached"] is True


def test_t2_fresh_asks_again_and_is_remembered(server: Any, sim: Simulator) -> None:
    with session(Client(server)) as client:
        client.call_tool("find_duplicates", {"number": 3})
        sim.open_issue("acme/app", "erin", "Index out of range panic in table rendering", TRACE)
        for arguments, numbers, cached in (
            ({"number": 3}, {1}, True),
            ({"number": 3, "fresh": True}, {1, 5}, False),
            ({"number": 3}, {1, 5}, True),
        ):
            found = answer(client.call_tool("find_duplicates", arguments))
            assert ({one["number"] for one in found["candidates"]}, found["cached"]) == (numbers, cached)


def test_t6_an_edit_makes_what_was_remembered_of_an_issue_stale(server: Any, sim: Simulator) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("find_duplicates", {"number": 3}),
        ("explain_pair", {"number": 1, "other": 3}),
    ]
    with session(Client(server)) as client:
        for tool, arguments in calls * 2:
            client.call_tool(tool, arguments)
        sim.clock.advance(1)
        sim.edit_issue("acme/app", 3, title="Colours of the logo are wrong on paper", body="Too blue.")
        for tool, arguments in calls:
            again = answer(client.call_tool(tool, arguments))
            assert again["cached"] is False
            assert answer(client.call_tool(tool, arguments))["cached"] is True


@pytest.mark.parametrize("indexed", [False, True])
def test_what_was_filed_since_an_earlier_draft_is_found_for_the_next_one(
    server: Any, sim: Simulator, settings: Settings, indexed: bool
) -> None:
    """The list of issues is remembered for the session, and the number that the draft would have got is taken now."""
    with session(Client(server)) as client:
        client.call_tool("check_draft", {"title": "Colours of the logo are wrong on paper"})
        sim.open_issue("acme/app", "erin", "Index out of range panic in table rendering", TRACE)
        if indexed:
            fill_index(sim, settings)
        draft = {"title": "Panic, index out of range, rendering table", "body": TRACE}
        found = answer(client.call_tool("check_draft", draft))
        assert {one["number"] for one in found["candidates"]} >= {1, 3, 5}


def test_t5_two_issues_are_never_mixed_up(server: Any) -> None:
    """The generic rule would find most arguments of the two calls the same."""
    with session(Client(server)) as client:
        for number in (1, 3, 2):
            found = answer(client.call_tool("find_duplicates", {"number": number}))
            assert (found["issue"]["number"], found["cached"]) == (number, False)


def test_t2_a_playbook_with_its_sections_in_another_order_is_another_one(server: Any) -> None:
    """D1: sections without a place of their own stand as they come, and the first of two entries stays."""
    with session(Client(server)) as client:
        for sections in (("GO", "RUST"), ("RUST", "GO")):
            content = playbook(**{name: [entry("same words")] for name in sections})
            merged = answer(client.call_tool("dedupe_playbook", {"playbook": content}))
            assert ([one["section"] for one in merged["merges"]], merged["cached"]) == ([sections[0]], False)


def test_t3_what_could_not_be_asked_properly_is_asked_again(server: Any, sim: Simulator) -> None:
    sim.faults.add("GET /search/issues", 403, times=30)
    with session(Client(server)) as client:
        failed = answer(client.call_tool("find_duplicates", {"number": 3}))
        assert failed["outcome"] == "degraded"
        assert failed["problems"]
        sim.faults.clear()
        again = answer(client.call_tool("find_duplicates", {"number": 3}))
        assert (again["outcome"], again["cached"]) == ("found", False)
