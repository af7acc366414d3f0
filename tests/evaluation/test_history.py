"""A repository's own history, read from GitHub through the real client, becomes rows of the shared format."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from githubkit.exception import GraphQLFailed
from githubkit.graphql import GraphQLError, GraphQLResponse

from bot.domain.errors import Unavailable
from bot.github import changes as pages
from bot.github.repository import RepoClient
from bot.quality.evaluation.history import HistoryFile, read_history, stored_issues
from bot.quality.evaluation.statements import HISTORY_VERSION
from bot.simulator import Simulator
from bot.simulator.state.issues import StateReason
from tests.github.conftest import REPO

TOPICS = ("Login crashes", "Export writes an empty file", "Fonts are blurred", "Menu does not open", "Sound stutters")


@pytest.fixture(autouse=True)
def team(sim: Simulator) -> None:
    """`rita` is a member; five issues are open."""
    sim.set_permission("acme/app", "rita", "write")
    for title in TOPICS:
        sim.open_issue("acme/app", "ann", title, "It happens daily.")
        sim.clock.advance(60)


def read(client: RepoClient, folder: Path, **options: Any) -> dict[int, dict[str, Any]]:
    _, rows = read_history(client, REPO, folder, lambda completed, total: None, **options)
    return {row["id"]: row for row in rows}


def test_the_fields_are_those_of_the_shared_format(client: RepoClient, sim: Simulator, tmp_path: Path) -> None:
    sim.open_issue("acme/app", "bob", "A pull request", "", is_pull_request=True)
    sim.close_issue("acme/app", 2, "rita")
    rows = read(client, tmp_path)
    assert list(rows) == [1, 2, 3, 4, 5]
    record = sim.issue("acme/app", 2)
    assert record.closed_at is not None
    assert rows[2] == {
        "id": 2,
        "title": "Export writes an empty file",
        "body": "It happens daily.",
        "created_at": record.created_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "closed_at": record.closed_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "author": "ann",
    }
    assert rows[1]["closed_at"] is None


def test_an_apps_issue_is_known_as_one(client: RepoClient, sim: Simulator, tmp_path: Path) -> None:
    """As in the index: how much an author has reported counts for people only."""
    sim.who("nightly-runs[bot]", "Bot")
    sim.open_issue("acme/app", "nightly-runs[bot]", "Nightly build failed", "")
    assert read(client, tmp_path)[6]["author"] == "nightly-runs[bot]"


def test_a_duplicate_is_what_members_made_one(client: RepoClient, sim: Simulator, tmp_path: Path) -> None:
    one = sim.issue("acme/app", 1)
    sim.close_issue("acme/app", 2, "rita", "duplicate", one)
    sim.comment("acme/app", 3, "rita", "Closing as a duplicate of #1.")
    sim.close_issue("acme/app", 3, "rita", "not_planned")
    sim.comment("acme/app", 4, "eve", "Duplicate of #1")
    sim.close_issue("acme/app", 4, "rita")
    sim.comment("acme/app", 5, "rita", "Could be a duplicate of #1")
    rows = read(client, tmp_path)
    assert (rows[2]["duplicate_of"], rows[3]["duplicate_of"]) == (1, 1)
    for number in (4, 5):
        assert "duplicate_of" not in rows[number]
        assert rows[number]["maybe_related"] is True
    assert not {"duplicate_of", "maybe_related", "dup_unknown_master"} & rows[1].keys()


def test_who_closed_an_issue_of_somebody_else_was_a_maintainer(
    client: RepoClient, sim: Simulator, tmp_path: Path
) -> None:
    """GitHub tells who is a member today, of whom most of an old project's maintainers are none any more."""
    sim.set_permission("acme/app", "olga", "write")
    sim.close_issue("acme/app", 2, "olga")
    sim.comment("acme/app", 3, "olga", "Dup of #1")
    sim.close_issue("acme/app", 3, "rita")
    sim.comment("acme/app", 4, "olga", "Looks like a dup of #1")
    sim.close_issue("acme/app", 4, "rita")
    sim.comment("acme/app", 5, "eve", "Dup of #1")
    sim.close_issue("acme/app", 5, "ann")
    sim.set_permission("acme/app", "olga", "read")
    rows = read(client, tmp_path)
    assert rows[3]["duplicate_of"] == 1
    for number in (4, 5):
        assert ("duplicate_of" in rows[number], rows[number]["maybe_related"]) == (False, True), number


def test_who_closed_nothing_but_their_own_issues_was_none(client: RepoClient, sim: Simulator, tmp_path: Path) -> None:
    sim.close_issue("acme/app", 2, "ann")
    sim.comment("acme/app", 3, "ann", "Dup of #1")
    sim.close_issue("acme/app", 3, "rita")
    row = read(client, tmp_path)[3]
    assert ("duplicate_of" in row, row["maybe_related"]) == (False, True)


@pytest.mark.parametrize("marked_last", [True, False])
def test_the_last_word_counts_whether_it_is_a_mark_or_a_comment(
    client: RepoClient, sim: Simulator, tmp_path: Path, marked_last: bool
) -> None:
    for marks in (not marked_last, marked_last):
        if marks:
            sim.close_issue("acme/app", 5, "rita", "duplicate", sim.issue("acme/app", 1))
        else:
            sim.comment("acme/app", 5, "rita", "Duplicate of #2")
        sim.clock.advance(3_600)
    assert read(client, tmp_path)[5]["duplicate_of"] == (1 if marked_last else 2)


def test_an_app_that_closes_issues_makes_nobody_a_maintainer(
    client: RepoClient, sim: Simulator, tmp_path: Path
) -> None:
    """GraphQL gives the login of `stale[bot]` without what tells it from a person's."""
    sim.who("stale[bot]", "Bot")
    sim.close_issue("acme/app", 2, "stale[bot]")
    sim.comment("acme/app", 3, "stale", "Dup of #1")
    sim.close_issue("acme/app", 3, "ann")
    assert "duplicate_of" not in read(client, tmp_path)[3]


def test_who_closes_an_issue_with_a_word_has_decided(client: RepoClient, sim: Simulator, tmp_path: Path) -> None:
    sim.comment("acme/app", 2, "rita", "I think this is a dupe of #1, thanks!")
    sim.close_issue("acme/app", 2, "rita", "not_planned")
    sim.comment("acme/app", 3, "ann", "Oh, this is #1 again. Closing as a duplicate.")
    sim.close_issue("acme/app", 3, "ann")
    sim.comment("acme/app", 4, "rita", "I think this is a dupe of #1")
    sim.clock.advance(3_600)
    sim.close_issue("acme/app", 4, "rita")
    rows = read(client, tmp_path)
    assert (rows[2]["duplicate_of"], rows[3]["duplicate_of"]) == (1, 1)
    assert "duplicate_of" not in rows[4], "an hour later it may be closed for another reason"


def test_a_bare_reference_with_the_closing_says_of_which_where_it_is_a_duplicate(
    client: RepoClient, sim: Simulator, tmp_path: Path
) -> None:
    sim.set_labels(sim.issue("acme/app", 2), ["duplicate"], "rita")
    closed: dict[int, StateReason] = {2: "completed", 3: "duplicate", 4: "not_planned", 5: "not_planned"}
    for number, reason in closed.items():
        sim.comment("acme/app", number, "rita", "See #1.")
        if number == 5:
            sim.clock.advance(3_600)
        sim.close_issue("acme/app", number, "rita", reason)
    rows = read(client, tmp_path)
    assert (rows[2]["duplicate_of"], rows[3]["duplicate_of"]) == (1, 1)
    assert ("duplicate_of" in rows[4], rows[4].get("maybe_related")) == (False, True), "it may be about more, or fixed"
    assert not {"duplicate_of", "maybe_related", "dup_unknown_master"} & rows[5].keys()


def test_the_last_word_counts(client: RepoClient, sim: Simulator, tmp_path: Path) -> None:
    one, two = sim.issue("acme/app", 1), sim.issue("acme/app", 2)
    sim.close_issue("acme/app", 3, "rita", "duplicate", one)
    sim.clock.advance(60)
    sim.reopen_issue("acme/app", 3, "rita")
    sim.close_issue("acme/app", 3, "rita", "completed")
    sim.close_issue("acme/app", 4, "rita", "duplicate", one)
    sim.clock.advance(60)
    sim.close_issue("acme/app", 4, "rita", "duplicate", two)
    sim.comment("acme/app", 5, "rita", "Duplicate of #1")
    rows = read(client, tmp_path)
    assert "duplicate_of" not in rows[3]
    assert rows[4]["duplicate_of"] == 2
    # Still open: somebody thinks otherwise.
    assert rows[5].get("maybe_related") is True


def test_an_unknown_original_is_said_to_be_unknown(client: RepoClient, sim: Simulator, tmp_path: Path) -> None:
    sim.add_repository("acme/other")
    elsewhere = sim.open_issue("acme/other", "ann", "Login crashes")
    sim.close_issue("acme/app", 2, "rita", "duplicate", elsewhere)
    sim.close_issue("acme/app", 3, "rita", "duplicate")
    sim.comment("acme/app", 4, "rita", "Duplicate of #99")
    sim.close_issue("acme/app", 4, "rita")
    sim.create_label("acme/app", "type: duplicate")
    sim.set_labels(sim.issue("acme/app", 5), ["type: duplicate"], "rita")
    sim.close_issue("acme/app", 5, "rita")
    rows = read(client, tmp_path)
    for number in (2, 3, 4, 5):
        assert rows[number].get("dup_unknown_master") is True, number
        assert "duplicate_of" not in rows[number]


@pytest.mark.parametrize("label", ["possible duplicate", "potential-duplicate", "not-duplicate", "status: likely dupe"])
def test_a_label_that_only_supposes_it_is_no_reason(
    client: RepoClient, sim: Simulator, tmp_path: Path, label: str
) -> None:
    """Other bots and people add such while they look."""
    sim.create_label("acme/app", label)
    sim.set_labels(sim.issue("acme/app", 3), [label], "rita")
    sim.comment("acme/app", 3, "eve", "Duplicate of #1?")
    sim.close_issue("acme/app", 3, "rita")
    row = read(client, tmp_path)[3]
    assert ("duplicate_of" in row, row.get("maybe_related")) == (False, True)


def test_bots_say_nothing(client: RepoClient, sim: Simulator, tmp_path: Path) -> None:
    sim.comment("acme/app", 2, sim.app.bot, "> maybe\n\nThis looks like a duplicate of #1")
    sim.close_issue("acme/app", 2, "rita")
    assert "maybe_related" not in read(client, tmp_path)[2]


def test_an_issue_that_names_its_original_is_marked_so(client: RepoClient, sim: Simulator, tmp_path: Path) -> None:
    texts = (
        "As in #1.",
        "As in _#1_",
        "As in https://github.com/acme/app/issues/1",
        "As in https://git.acme.example/Acme/App/issues/1",
        "As in #12 and acme/core#1, page 1",
        "The trace begins with `#1 0x4f`",
    )
    for number, text in enumerate(texts, 6):
        sim.open_issue("acme/app", "bob", "Login crashes again", text)
        sim.close_issue("acme/app", number, "rita", "duplicate", sim.issue("acme/app", 1))
    rows = read(client, tmp_path)
    named = [rows[number].get("body_mentions_master") for number in range(6, 12)]
    assert named == [True, True, True, True, None, None]


def test_what_is_known_is_not_asked_for_again(client: RepoClient, sim: Simulator, tmp_path: Path) -> None:
    first, before = read(client, tmp_path), sim.faults.requests
    assert read(client, tmp_path) == first
    assert sim.faults.requests == before + 2, "the repository's id and one page"
    sim.clock.advance(60)
    sim.edit_issue("acme/app", 4, title="Menu opens twice", actor="ann")
    assert read(client, tmp_path)[4]["title"] == "Menu opens twice"
    (path,) = (tmp_path / "history").iterdir()
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    # Issues of the moment of the last change came again, and no others.
    assert sum("issue" in line for line in lines) <= len(TOPICS) + 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_reading_that_broke_off_goes_on(
    client: RepoClient, sim: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "LARGEST", 2)
    monkeypatch.setattr(pages, "SMALLEST", 2)

    def break_off(completed: int, total: int) -> None:
        sim.faults.add("/graphql", times=None)

    with pytest.raises(Unavailable):
        read_history(client, REPO, tmp_path, break_off)
    sim.faults.clear()
    (path,) = (tmp_path / "history").iterdir()
    kept = HistoryFile(tmp_path, int(path.stem), REPO)
    assert sorted(kept.records) == [1, 2]
    told: list[tuple[int, int]] = []
    _, rows = read_history(client, REPO, tmp_path, lambda completed, total: told.append((completed, total)))
    assert [row["id"] for row in rows] == [1, 2, 3, 4, 5]
    assert told == [(2, 4), (4, 4)], "it goes on from the issue that was changed last"


def test_half_a_line_and_an_old_version_are_read_again(client: RepoClient, tmp_path: Path) -> None:
    whole = read(client, tmp_path)
    (path,) = (tmp_path / "history").iterdir()
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: len(text) * 2 // 3], encoding="utf-8")
    assert read(client, tmp_path) == whole
    assert read(client, tmp_path) == whole
    for damaged in ("{}", "7", '{"issue": {"number": 1}}', '{"issue": null}'):
        path.write_text("\n".join([*text.splitlines()[:3], damaged, *text.splitlines()[4:]]), encoding="utf-8")
        assert sum(1 for _ in stored_issues(tmp_path, int(path.stem))) >= 2
        assert read(client, tmp_path) == whole
    path.write_text("[]\n", encoding="utf-8")
    assert read(client, tmp_path) == whole
    old = HISTORY_VERSION - 1
    before = text.replace(f'"version": {HISTORY_VERSION}', f'"version": {old}').replace("Login", "Logon")
    path.write_text(before, encoding="utf-8")
    assert read(client, tmp_path) == whole


def test_fresh_forgets_what_was_deleted(client: RepoClient, sim: Simulator, tmp_path: Path) -> None:
    read(client, tmp_path)
    sim.delete_issue("acme/app", 5)
    assert set(read(client, tmp_path)) == {1, 2, 3, 4, 5}
    assert set(read(client, tmp_path, fresh=True)) == {1, 2, 3, 4}


@pytest.mark.parametrize("partly", [False, True])
def test_a_page_that_takes_more_of_githubs_resources_than_a_query_may_is_asked_for_in_parts(
    client: RepoClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, partly: bool
) -> None:
    """GraphQL tells it with status 200, and leaves out all of it or a few issues."""
    ask = client._api.github.graphql.request

    def limited(query: str, variables: dict[str, Any]) -> dict[str, Any]:
        data = ask(query, variables)
        if variables.get("first", 0) <= pages.SMALLEST:
            return data
        nodes = data["repository"]["issues"]["nodes"]
        nodes[1] = None
        failure = GraphQLError(
            type="RESOURCE_LIMITS_EXCEEDED",
            message="Resource limits for this query exceeded.",
            path=["repository", "issues", "nodes", 1, "comments"],
        )
        raise GraphQLFailed(GraphQLResponse(data=data if partly else {"repository": None}, errors=[failure]))

    monkeypatch.setattr(client._api.github.graphql, "request", limited)
    assert len(read(client, tmp_path)) == len(TOPICS)
