"""GraphQL: searching, reading, projects, writing, and errors of GitHub's shape."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

import pytest
from graphql import build_schema

from bot.simulator import Simulator
from bot.simulator.graphql import endpoint
from tests.simulator.conftest import Api

SEARCH = """query($q: String!, $type: SearchType!, $after: String) { search(query: $q, type: $type, first: 2,
    after: $after) { issueCount pageInfo { hasNextPage endCursor } nodes { __typename ... on Issue { number } } } }"""


@pytest.fixture(autouse=True)
def issues(sim: Simulator) -> None:
    for number in range(1, 6):
        sim.open_issue("acme/app", "ada", f"It crashes, part {number}", "Text")


NODE = "query($id: ID!) { node(id: $id) { __typename id } }"


def test_a_cursor_may_point_into_a_page(bot: Api) -> None:
    whole = bot.graphql(
        """{ search(query: "repo:acme/app crashes", type: ISSUE, first: 5) {
            edges { cursor node { ... on Issue { number } } } } }"""
    )["data"]["search"]["edges"]
    part = bot.graphql(SEARCH, q="repo:acme/app crashes", type="ISSUE", after=whole[0]["cursor"])["data"]["search"]
    assert [node["number"] for node in part["nodes"]] == [edge["node"]["number"] for edge in whole[1:3]]


def test_who_searches_for_none_is_told_how_many(bot: Api) -> None:
    count = '{ search(query: "repo:acme/app is:issue", type: ISSUE, first: 0) { issueCount nodes { __typename } } }'
    assert bot.graphql(count)["data"]["search"] == {"issueCount": 5, "nodes": []}


def test_a_search_from_its_end_is_refused_loudly(sim: Simulator, bot: Api) -> None:
    for page in ("last: 1", 'first: 1, before: "Y3Vyc29yOjI="'):
        asked = bot.graphql(f'{{ search(query: "repo:acme/app is:issue", type: ISSUE, {page}) {{ issueCount }} }}')
        assert asked["errors"][0]["type"] == "UNPROCESSABLE"
    assert sim.unknown_requests == ["POST /graphql: a search from its end"] * 2


def test_a_cursor_before_the_beginning_is_none(bot: Api) -> None:
    after = base64.b64encode(b"cursor:-2").decode()
    listed = f'repository(owner: "acme", name: "app") {{ issues(first: 5, after: "{after}") {{ totalCount }} }}'
    found = f'search(query: "repo:acme/app is:issue", type: ISSUE, first: 5, after: "{after}") {{ issueCount }}'
    for part in (listed, found):
        assert bot.graphql(f"{{ {part} }}")["errors"][0]["type"] == "INVALID_CURSOR_ARGUMENTS"


@pytest.mark.parametrize("variables", ["x", [1]])
def test_variables_are_an_object(bot: Api, variables: object) -> None:
    asked = {"query": "query($login: String!) { user(login: $login) { id } }", "variables": variables}
    assert bot.post("/graphql", asked).status_code == 400


@pytest.mark.parametrize("kind", ["ISSUE_ADVANCED", "ISSUE_HYBRID", "ISSUE_SEMANTIC"])
def test_other_kinds_of_search(bot: Api, kind: str) -> None:
    assert bot.graphql(SEARCH, q="repo:acme/app is:issue crashes", type=kind)["data"]["search"]["issueCount"] == 5


def test_what_a_search_shows_of_an_issue(sim: Simulator, bot: Api) -> None:
    sim.close_issue("acme/app", 2, "ada", "duplicate", sim.issue("acme/app", 1))
    comment = sim.comment("acme/app", 2, sim.app.bot, "Seen before")
    sim.react(comment, "bea", "+1")
    body = bot.graphql(
        """{ repository(owner: "ACME", name: "App") { nameWithOwner issue(number: 2) {
            id databaseId fullDatabaseId state stateReason known: stateReason(enableDuplicate: true) closed url
            author { __typename login } labels(first: 5) { totalCount }
            comments(last: 1) { nodes { author { __typename login } body viewerDidAuthor
              reactionGroups { content users { totalCount } } } } } } }"""
    )
    repository = body["data"]["repository"]
    issue = repository["issue"]
    assert repository["nameWithOwner"] == "acme/app"
    assert issue["fullDatabaseId"] == str(sim.issue("acme/app", 2).id)
    assert issue["databaseId"] is None, "an Int has 32 bits"
    assert (issue["state"], issue["stateReason"], issue["known"]) == ("CLOSED", "NOT_PLANNED", "DUPLICATE")
    assert issue["author"] == {"__typename": "User", "login": "ada"}
    (said,) = issue["comments"]["nodes"]
    assert said["author"] == {"__typename": "Bot", "login": "doppel"}
    assert said["viewerDidAuthor"] is True
    assert {"content": "THUMBS_UP", "users": {"totalCount": 1}} in said["reactionGroups"]


def test_nodes_by_their_ids(sim: Simulator, bot: Api) -> None:
    issue = sim.issue("acme/app", 1)
    body = bot.graphql(
        "query($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }",
        ids=[issue.node_id, "nonsense", sim.app.bot.node_id],
    )
    assert body["data"]["nodes"] == [
        {"__typename": "Issue", "id": issue.node_id},
        None,
        {"__typename": "Bot", "id": sim.app.bot.node_id},
    ]
    assert body["errors"][0]["type"] == "NOT_FOUND"
    assert body["errors"][0]["path"] == ["nodes", 1]


HERE = 'repository(owner: "acme", name: "app")'


@pytest.mark.parametrize(
    ("query", "kind", "message"),
    [
        ('repository(owner: "acme", name: "no") { id }', "NOT_FOUND", "with the name 'acme/no'"),
        ('repository(owner: "zed", name: "secret") { id }', "NOT_FOUND", "with the name 'zed/secret'"),
        (f"{HERE} {{ issue(number: 99) {{ id }} }}", "NOT_FOUND", "number of 99"),
        (f"{HERE} {{ issues {{ totalCount }} }}", "MISSING_PAGINATION_BOUNDARIES", "first"),
        (f"{HERE} {{ issues(first: 101) {{ totalCount }} }}", "EXCESSIVE_PAGINATION", "101"),
        ('search(query: "repo:a/no x", type: ISSUE, first: 1) { issueCount }', "UNPROCESSABLE", "Validation Failed"),
        ('user(login: "nobody") { id }', "NOT_FOUND", "'nobody'"),
    ],
)
def test_errors_have_a_type_and_a_path(sim: Simulator, bot: Api, query: str, kind: str, message: str) -> None:
    sim.add_repository("zed/secret", private=True)
    (error,) = bot.graphql(f"{{ {query} }}")["errors"]
    assert error["type"] == kind
    assert message in error["message"]
    assert error["path"]
    assert error["locations"][0]["line"] == 1


@pytest.mark.parametrize(
    "query", ["{ viewer { login ", "{ viewer { nonsense } }", "query($x: Int!) { viewer { login } }"]
)
def test_what_is_no_valid_query_is_answered_with_errors(bot: Api, query: str) -> None:
    assert bot.graphql(query)["errors"]


def test_a_node_id_opens_nothing_private(sim: Simulator, bot: Api, person: Callable[..., Api]) -> None:
    sim.add_repository("acme/secret", private=True)
    label = sim.create_label("acme/secret", "merger with zed")
    told = sim.start_discussion("acme/secret", "ada", "Shall we?")
    project = sim.add_project("acme", "Layoffs", {"Status": ["Todo"]})
    sim.set_permissions("acme", {"issues": "write", "metadata": "read"})
    for api in (bot, person("eve")):
        for key in (label.node_id, told.node_id):
            assert api.graphql(NODE, id=key)["errors"][0]["type"] == "NOT_FOUND"
    assert bot.graphql(NODE, id=project.node_id)["errors"][0]["type"] == "FORBIDDEN"
    asked = bot.graphql('{ organization(login: "acme") { projectV2(number: 1) { title } } }')
    assert asked["errors"][0]["type"] == "FORBIDDEN"


def test_nothing_of_a_deleted_repository_is_found_by_its_node_id(sim: Simulator, bot: Api) -> None:
    gone = sim.add_repository("acme/gone")
    told = sim.start_discussion(gone, "ada", "Is this used?")
    keys = [gone.node_id, gone.labels["bug"].node_id, told.node_id]
    sim.delete_repository(gone)
    for key in keys:
        assert bot.graphql(NODE, id=key)["errors"][0]["type"] == "NOT_FOUND"


def test_who_may_ask(app: Api, bot: Api) -> None:
    query = {"query": "{ viewer { login } }"}
    assert Api(app.url).post("/graphql", query).status_code == 401
    assert app.post("/graphql", query).status_code == 401
    assert bot.post("/graphql", {}).status_code == 400
    assert bot.post("/graphql", query).json() == {"data": {"viewer": {"login": "doppel[bot]"}}}


def test_reading_needs_the_permission(sim: Simulator, bot: Api) -> None:
    sim.set_permissions("acme", {"metadata": "read"})
    body = bot.graphql('{ repository(owner: "acme", name: "app") { id issue(number: 1) { id } } }')
    assert body["data"]["repository"]["issue"] is None
    assert body["errors"][0]["type"] == "FORBIDDEN"


def test_an_original_may_be_archived_but_is_another_issue(sim: Simulator, bot: Api) -> None:
    close = """mutation($issue: ID!, $original: ID!, $reason: IssueClosedStateReason!) { closeIssue(input: {
      issueId: $issue, stateReason: $reason, duplicateIssueId: $original}) { issue { duplicateOf { title } } } }"""
    first, second = (sim.issue("acme/app", number) for number in (1, 2))
    refused = bot.graphql(close, issue=first.node_id, original=first.node_id, reason="DUPLICATE")
    assert (refused["errors"][0]["type"], first.state) == ("UNPROCESSABLE", "open")
    original = sim.open_issue(sim.add_repository("acme/old"), "ada", "Known for long")
    sim.archive_repository("acme/old")
    closed = bot.graphql(close, issue=first.node_id, original=original.node_id, reason="DUPLICATE")
    assert closed["data"]["closeIssue"]["issue"] == {"duplicateOf": {"title": "Known for long"}}
    bot.graphql(close, issue=second.node_id, original=original.node_id, reason="COMPLETED")
    assert (second.state_reason, second.duplicate_of) == ("completed", None)


def test_commenting(sim: Simulator, bot: Api) -> None:
    add = """mutation($id: ID!, $body: String!) { addComment(input: {subjectId: $id, body: $body}) {
        commentEdge { node { body } } } }"""
    issue = sim.issue("acme/app", 1)
    assert bot.graphql(add, id=issue.node_id, body="Hello")["data"]["addComment"]["commentEdge"]["node"] == {
        "body": "Hello"
    }
    assert bot.graphql(add, id=issue.node_id, body=" ")["errors"][0]["type"] == "UNPROCESSABLE"
    assert len(issue.comments) == 1


def test_the_schema_is_valid_and_all_its_records_resolve() -> None:
    text = Path(endpoint.__file__).with_name("schema.graphql").read_text(encoding="utf-8")
    assert set(build_schema(text).type_map) == set(endpoint.schema().type_map)


DISCUSSIONS = """query($q: String!) { repository(owner: "acme", name: "app") { discussions(first: 1) { totalCount } }
    search(query: $q, type: DISCUSSION, first: 10) { discussionCount nodes { ... on Discussion {
    number title closed stateReason isAnswered url } } } }"""


def test_h6_discussions_are_counted_and_found(sim: Simulator, person: Callable[..., Api]) -> None:
    sim.start_discussion("acme/app", "ada", "How do I log in?", "The button is grey", answered=True)
    closed = sim.start_discussion("acme/app", "ada", "Log in by card", "")
    sim.close_discussion(closed, "outdated")
    data = person("ada").graphql(DISCUSSIONS, q="repo:acme/app in:title,body log")["data"]
    assert data["repository"]["discussions"]["totalCount"] == 2
    assert data["search"]["discussionCount"] == 2
    by_number = {one["number"]: one for one in data["search"]["nodes"]}
    assert by_number[6]["isAnswered"] and not by_number[6]["closed"]
    assert by_number[6]["url"].endswith("/acme/app/discussions/6")
    assert (by_number[7]["closed"], by_number[7]["stateReason"]) == (True, "OUTDATED")
    assert person("ada").graphql(DISCUSSIONS, q="repo:acme/app grey")["data"]["search"]["discussionCount"] == 1


def test_h6_discussions_need_a_permission_of_their_own(sim: Simulator, bot: Api) -> None:
    sim.start_discussion("acme/app", "ada", "How do I log in?")
    body = bot.graphql(DISCUSSIONS, q="repo:acme/app log")
    assert body["data"]["search"]["nodes"] == []
    assert [(error["type"], error["message"]) for error in body["errors"]] == [
        ("FORBIDDEN", "Resource not accessible by integration")
    ]


@pytest.mark.parametrize("query", ["author:ada log", "log OR in", '"log in"'])
def test_what_a_search_for_discussions_does_not_know_is_refused(person: Callable[..., Api], query: str) -> None:
    body = person("ada").graphql(DISCUSSIONS, q=f"repo:acme/app {query}")
    assert "not simulated here" in body["errors"][0]["message"]


def test_reactions_to_a_comment_with_who_gave_them(sim: Simulator, bot: Api) -> None:
    """The latest first, of one kind; an App's bot is no User."""
    comment = sim.comment("acme/app", 1, sim.app.bot, "Seen before")
    for login, content in (("ann", "-1"), ("bob", "-1"), ("ann", "heart")):
        sim.react(comment, login, content)
        sim.clock.advance(60)
    sim.react(comment, sim.app.bot, "-1")
    ask = """query($id: ID!) { nodes(ids: [$id]) { ... on IssueComment { reactions(
        first: 2, content: THUMBS_DOWN, orderBy: {field: CREATED_AT, direction: DESC}) {
        totalCount viewerHasReacted pageInfo { hasNextPage } nodes { content createdAt user { login } } } } } }"""
    (node,) = bot.graphql(ask, id=comment.node_id)["data"]["nodes"]
    found = node["reactions"]
    assert (found["totalCount"], found["viewerHasReacted"], found["pageInfo"]["hasNextPage"]) == (3, True, True)
    assert [one["user"] for one in found["nodes"]] == [None, {"login": "bob"}]
    assert {one["content"] for one in found["nodes"]} == {"THUMBS_DOWN"}
