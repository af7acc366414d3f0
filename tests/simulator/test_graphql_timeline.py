"""The timeline through GraphQL: what an issue was marked as a duplicate of, by whom, and what was said."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bot.simulator import Simulator
from tests.simulator.conftest import START, Api

TIMELINE = """query($types: [IssueTimelineItemsItemType!], $since: DateTime) {
  repository(owner: "acme", name: "app") { issue(number: 2) {
    timelineItems(first: 10, itemTypes: $types, since: $since) { totalCount pageCount updatedAt nodes {
      __typename
      ... on IssueComment { body authorAssociation }
      ... on MarkedAsDuplicateEvent {
        actor { login } canonical { ... on Issue { number } } duplicate { ... on Issue { number } } isCrossRepository }
      ... on ClosedEvent { actor { login } createdAt }
      ... on UnmarkedAsDuplicateEvent { actor { login } canonical { ... on Issue { number } } }
} } } } }"""
ALL = ["ISSUE_COMMENT", "MARKED_AS_DUPLICATE_EVENT", "UNMARKED_AS_DUPLICATE_EVENT"]


@pytest.fixture(autouse=True)
def issues(sim: Simulator) -> None:
    for number in range(1, 4):
        sim.open_issue("acme/app", "ada", f"It crashes, part {number}", "Text")


def timeline(api: Api, types: list[str] | None = None, since: str | None = None) -> dict[str, Any]:
    body = api.graphql(TIMELINE, types=types or ALL, since=since)
    assert "errors" not in body
    found: dict[str, Any] = body["data"]["repository"]["issue"]["timelineItems"]
    return found


def test_marks_and_comments_in_the_order_in_which_they_happened(sim: Simulator, bot: Api) -> None:
    sim.set_permission("acme/app", "rita", "write")
    sim.comment("acme/app", 2, "ada", "Same here")
    sim.clock.advance(60)
    sim.comment("acme/app", 2, "rita", "Duplicate of #1")
    sim.clock.advance(60)
    sim.close_issue("acme/app", 2, "rita", "duplicate", sim.issue("acme/app", 1))
    sim.reopen_issue("acme/app", 2, "ada")
    found = timeline(bot)
    assert [node["__typename"].removesuffix("AsDuplicateEvent") for node in found["nodes"]] == [
        "IssueComment",
        "IssueComment",
        "Marked",
        "Marked",
        "Unmarked",
    ]
    assert found["nodes"][1] == {
        "__typename": "IssueComment",
        "body": "Duplicate of #1",
        "authorAssociation": "MEMBER",
    }
    assert found["nodes"][2] == {
        "__typename": "MarkedAsDuplicateEvent",
        "actor": {"login": "rita"},
        "canonical": {"number": 1},
        "duplicate": {"number": 2},
        "isCrossRepository": False,
    }
    assert found["nodes"][4]["actor"] == {"login": "ada"}
    assert (found["totalCount"], found["pageCount"]) == (5, 5)
    assert len(timeline(bot, ["UNMARKED_AS_DUPLICATE_EVENT"])["nodes"]) == 1
    assert len(timeline(bot, since=(START + timedelta(seconds=90)).isoformat())["nodes"]) == 2


def test_an_original_out_of_sight_is_not_shown(sim: Simulator, bot: Api) -> None:
    sim.add_repository("zed/secret", private=True)
    hidden = sim.open_issue("zed/secret", "ada", "It crashes")
    sim.close_issue("acme/app", 2, "ada", "duplicate", hidden)
    (mark,) = timeline(bot)["nodes"]
    assert (mark["canonical"], mark["isCrossRepository"]) == (None, True)


def test_an_original_that_was_transferred_is_shown_where_it_is_and_one_that_was_deleted_nowhere(
    sim: Simulator, bot: Api
) -> None:
    question = """{ repository(owner: "acme", name: "app") { issue(number: 2) {
      duplicateOf { title repository { name } }
      timelineItems(first: 9, itemTypes: [MARKED_AS_DUPLICATE_EVENT]) {
        nodes { ... on MarkedAsDuplicateEvent { canonical { ... on Issue { title } } } } } } } }"""
    sim.close_issue("acme/app", 2, "ada", "duplicate", sim.issue("acme/app", 1))
    sim.add_repository("acme/other")
    sim.install("acme/other")
    sim.transfer_issue("acme/app", 1, "acme/other")
    issue = bot.graphql(question)["data"]["repository"]["issue"]
    assert issue["duplicateOf"] == {"title": "It crashes, part 1", "repository": {"name": "other"}}
    sim.delete_issue("acme/other", 1)
    issue = bot.graphql(question)["data"]["repository"]["issue"]
    assert (issue["duplicateOf"], issue["timelineItems"]["nodes"]) == (None, [{"canonical": None}])


def test_items_of_all_types_are_refused_loudly(sim: Simulator, bot: Api) -> None:
    body = bot.graphql(
        """{ repository(owner: "acme", name: "app") { issue(number: 2) { timelineItems(first: 1) { totalCount } } } }"""
    )
    assert "without itemTypes" in body["errors"][0]["message"]
    assert sim.unknown_requests == ["POST /graphql: timelineItems without itemTypes"]


def test_issues_since_a_time_and_of_one_author(sim: Simulator, bot: Api) -> None:
    sim.clock.advance(60)
    sim.edit_issue("acme/app", 2, title="It crashes at dawn")
    sim.open_issue("acme/app", "bea", "Colours differ")
    query = """query($filter: IssueFilters) { repository(owner: "acme", name: "app") {
      issues(first: 10, filterBy: $filter, orderBy: {field: UPDATED_AT, direction: ASC}) { nodes { number } } } }"""

    def numbers(**filters: Any) -> list[int]:
        nodes = bot.graphql(query, filter=filters)["data"]["repository"]["issues"]["nodes"]
        return [node["number"] for node in nodes]

    assert numbers() == [1, 3, 2, 4]
    assert numbers(since=(START + timedelta(seconds=60)).isoformat()) == [2, 4]
    assert numbers(createdBy="Bea") == [4]
    assert numbers(states=["CLOSED"]) == []
