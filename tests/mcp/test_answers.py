"""What an answer says of a candidate, and in how few signs (P4, P6)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from mcp.client import Client

from bot.app.wiring.indexes import agent_tools
from bot.conversation.config.schema import CONFIG_PATH
from bot.domain.likelihood import likelihood
from bot.interfaces.mcp.results import EXCERPT
from bot.interfaces.mcp.server import build_server
from bot.platform.settings import Settings
from bot.simulator import Simulator
from tests.mcp.conftest import TRACE, answer, ask, fill_index, session

pytestmark = pytest.mark.slow

DRAFT = {"title": "Panic, index out of range, rendering table", "body": TRACE}

# What the tools' list took when every field had a title and a description, and each class its docstring.
LIST_BEFORE = 21_520


def size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def candidates(found: dict[str, Any]) -> list[dict[str, Any]]:
    return found["candidates"] if "candidates" in found else [found["other"]]


def test_p4_beside_each_number_stands_the_word_that_a_comment_has_for_it(
    server: Any, sim: Simulator, settings: Settings
) -> None:
    fill_index(sim, settings)
    answers = [
        answer(ask(server, "find_duplicates", number=3, include_closed=True, threshold=0)),
        answer(ask(server, "check_draft", **DRAFT)),
        answer(ask(server, "explain_pair", number=3, other=2)),
        answer(ask(server, "explain_pair", number=3, other=1)),
    ]
    said = [(one["likelihood"], one["confidence"]) for found in answers for one in candidates(found)]
    assert said == [(likelihood(confidence), confidence) for _, confidence in said]
    assert {"very likely", "unlikely"} <= {word for word, _ in said}


def test_p4_a_repository_can_say_from_where_on_something_is_likely(server: Any, sim: Simulator) -> None:
    likely = answer(ask(server, "explain_pair", number=3, other=1))["other"]["likelihood"]
    sim.write_file("acme/app", CONFIG_PATH, "likely: 1.0\n")
    assert likely in ("likely", "very likely")
    assert answer(ask(server, "explain_pair", number=3, other=1))["other"]["likelihood"] == "possibly"


def test_p6_what_the_bot_would_name_unasked_is_told_and_nothing_later(
    server: Any, sim: Simulator, settings: Settings
) -> None:
    fill_index(sim, settings)
    assert answer(ask(server, "find_duplicates", number=3))["named_unasked"] == ["#1"]
    first = answer(ask(server, "find_duplicates", number=1))
    assert [(one["number"], one["later"]) for one in first["candidates"]] == [(3, True)]
    assert "named_unasked" not in first, "a later issue is no earlier report"
    # It looks where the bot looks: among closed issues too, whatever is listed.
    copy = {"title": "Rendering a table panics, index out of range", "body": TRACE}
    opened = answer(ask(server, "check_draft", include_closed=False, **copy))
    assert 4 not in {one["number"] for one in opened["candidates"]}
    assert "#4" in opened["named_unasked"]


def test_p6_why_the_bot_says_nothing_is_told(server: Any, sim: Simulator) -> None:
    assert "silence" not in answer(ask(server, "find_duplicates", number=3))
    sim.write_file("acme/app", CONFIG_PATH, "mode: shadow\n")
    found = answer(ask(server, "find_duplicates", number=3))
    assert (found["named_unasked"], found["silence"]) == (["#1"], "mode: shadow")


def test_p6_a_draft_is_compared_with_closed_issues_and_the_best_five_are_listed(server: Any, sim: Simulator) -> None:
    for number in range(4):
        sim.open_issue("acme/app", "erin", f"Index out of range in panel {number}", f"panel {number}: {TRACE}")
    sim.flush_index()
    found = answer(ask(server, "check_draft", **DRAFT))
    assert found["candidate_count"] == 5
    assert (4, "closed") in {(one["number"], one["state"]) for one in found["candidates"]}
    opened = answer(ask(server, "check_draft", include_closed=False, **DRAFT))
    assert {one["state"] for one in opened["candidates"]} == {"open"}


def test_f_threshold_is_similarity_of_titles_and_min_confidence_the_probability(
    server: Any, sim: Simulator, settings: Settings
) -> None:
    with session(Client(server)) as client:
        tools = {tool.name: tool for tool in client.list_tools().tools}
        taken = {name: tool.input_schema["properties"] for name, tool in tools.items()}
        assert {one["threshold"]["description"] for one in taken.values() if "threshold" in one} == {
            "Least similarity of titles."
        }
        with_probability = {name for name, one in taken.items() if "min_confidence" in one}
        assert with_probability == {"find_duplicates", "check_draft", "scan_backlog"}
        assert "only open ones with similar titles" in (tools["find_duplicates"].description or "")
    fill_index(sim, settings)
    for tool, given in (("check_draft", DRAFT), ("find_duplicates", {"number": 3, "include_closed": True})):
        arguments: dict[str, Any] = {**given, "threshold": 0}
        every = answer(ask(server, tool, **arguments))["candidates"]
        threshold = (every[0]["confidence"] + every[-1]["confidence"]) / 2
        likely = answer(ask(server, tool, **arguments, min_confidence=threshold))["candidates"]
        wanted = {one["number"] for one in every if one["confidence"] >= threshold}
        assert {one["number"] for one in likely} == wanted != {one["number"] for one in every}
    assert answer(ask(server, "check_draft", title="Table", body=TRACE, threshold=0.9))["candidates"] == []


@pytest.mark.parametrize("indexed", [False, True])
def test_an_excerpt_is_the_authors_text_on_one_bounded_line(
    server: Any, sim: Simulator, settings: Settings, indexed: bool
) -> None:
    told = "The frobnicator \u202e\u200bexplodes at midnight with WindingError 77. "
    form = "<!-- read the manual -->\n### What happened?\n\n{}\n\nSteps that we ask everybody for\n\n- [x] I searched"
    for login in ("erin", "frank"):
        sim.open_issue("acme/app", login, "Frobnicator explodes at midnight", form.format(told * 40))
    for number in range(6):
        sim.open_issue("acme/app", f"user-{number}", f"Topic {number}", form.format(f"Something else, number {number}"))
    sim.flush_index()
    if indexed:
        fill_index(sim, settings)
    found = answer(ask(server, "find_duplicates", number=6))
    pair = answer(ask(server, "explain_pair", number=6, other=5))
    line = "The frobnicator explodes at midnight with WindingError 77. "
    for one in (found["candidates"][0], pair["other"]):
        assert one["excerpt"].startswith(line * 2)
        assert len(one["excerpt"]) <= EXCERPT and one["excerpt"].endswith("…")
    if indexed:
        # A line that many of its issues have comes from a form, whoever knows the form.
        topic = answer(ask(server, "explain_pair", number=6, other=12))["other"]
        assert topic["excerpt"] == "Something else, number 5"


def test_an_excerpt_is_there_of_what_is_no_issue_of_the_repository(server: Any, sim: Simulator) -> None:
    sim.add_repository("acme/lib")
    sim.open_issue("acme/lib", "cy", "Index out of range panics the table", f"In the library: {TRACE}")
    sim.write_file("acme/app", CONFIG_PATH, "siblings: [acme/lib]\n")
    sim.flush_index()
    found = answer(ask(server, "find_duplicates", number=3, threshold=0))["candidates"]
    assert {one["excerpt"][:15] for one in found if one.get("repo") == "acme/lib"} == {"In the library:"}


def blanks(value: Any, at: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from blanks(inner, f"{at}.{name}")
    elif isinstance(value, list) and value:
        for inner in value:
            yield from blanks(inner, at)
    elif value in (None, "", []):
        yield at


def test_nothing_is_said_that_says_nothing(server: Any, sim: Simulator, settings: Settings) -> None:
    fill_index(sim, settings)
    for tool, arguments in (
        ("find_duplicates", {"number": 3}),
        ("check_draft", DRAFT),
        ("explain_pair", {"number": 3, "other": 2}),
        ("scan_backlog", {"min_confidence": 0.5}),
    ):
        result = ask(server, tool, **arguments)
        assert list(blanks(answer(result))) == [".note"]
        (part,) = result.content
        assert part.type == "text" and json.loads(part.text) == answer(result), "for clients that read text only"
        assert len(part.text) == size(answer(result)), "no spaces in it"


def test_five_candidates_take_three_kilobytes_at_most(server: Any, sim: Simulator) -> None:
    """Whatever strangers write: long titles, long texts, and much that is shared."""
    title = f"Index out of range panic {'while rendering a table ' * 9}"
    body = f"{TRACE}\n" * 3 + "Ünïcode words. " * 200
    for login in ("ann", "ben", "cat", "dan", "eve", "fay"):
        sim.open_issue("acme/app", login, title, body)
    sim.flush_index()
    found = answer(ask(server, "find_duplicates", number=10, max_candidates=5))
    assert (found["candidate_count"], found["candidates"][0]["likelihood"]) == (5, "very likely")
    assert all(one["excerpt"] and one["reasons"] for one in found["candidates"])
    assert len(json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode()) <= 3_000


def test_the_list_of_tools_takes_half_the_signs_that_it_took(settings: Settings) -> None:
    with session(Client(build_server(agent_tools(settings)))) as client:
        told = client.list_tools().model_dump(mode="json", by_alias=True, exclude_none=True)
        assert size(told) <= LIST_BEFORE / 2
