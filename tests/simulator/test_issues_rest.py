"""Issues, comments, labels, reactions and their history over REST."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.simulator import Simulator
from tests.simulator.conftest import Api

ISSUES = "/repos/acme/app/issues"


def test_g_a_duplicate_is_named_by_its_originals_database_id(sim: Simulator, bot: Api) -> None:
    original = sim.open_issue("acme/app", "ada", "One")
    sim.open_issue("acme/app", "bea", "Two")
    ignored = {"state": "open", "state_reason": "duplicate", "duplicate_issue_id": original.id}
    assert bot.patch(f"{ISSUES}/2", ignored).json()["state_reason"] is None
    by_number = bot.patch(
        f"{ISSUES}/2", {"state": "closed", "state_reason": "duplicate", "duplicate_issue_id": original.number}
    )
    assert by_number.status_code == 422
    assert sim.issue("acme/app", 2).state == "open"
    answer = bot.patch(
        f"{ISSUES}/2", {"state": "closed", "state_reason": "duplicate", "duplicate_issue_id": original.id}
    )
    assert answer.json()["state_reason"] == "duplicate"
    assert sim.issue("acme/app", 2).duplicate_of is original
    events = [entry["event"] for entry in bot.get(f"{ISSUES}/2/events").json()]
    assert events == ["marked_as_duplicate", "closed"]
    bot.patch(f"{ISSUES}/2", {"state": "open"})
    events = [entry["event"] for entry in bot.get(f"{ISSUES}/2/events").json()]
    assert events == ["marked_as_duplicate", "closed", "unmarked_as_duplicate", "reopened"]


def test_the_reason_counts_only_next_to_a_state(sim: Simulator, bot: Api) -> None:
    original = sim.open_issue("acme/app", "ada", "One")
    sim.open_issue("acme/app", "bea", "Two")
    other = {"state": "closed", "state_reason": "completed", "duplicate_issue_id": original.id}
    assert bot.patch(f"{ISSUES}/2", other).json()["state_reason"] == "completed"
    assert sim.issue("acme/app", 2).duplicate_of is None
    late = {"state_reason": "duplicate", "duplicate_issue_id": original.id}
    assert bot.patch(f"{ISSUES}/2", late).json()["state_reason"] == "completed"
    assert bot.patch(f"{ISSUES}/2", late | {"state": "closed"}).json()["state_reason"] == "duplicate"
    assert bot.patch(f"{ISSUES}/2", {"state": "closed"}).json()["state_reason"] == "duplicate"
    assert sim.issue("acme/app", 2).duplicate_of is original
    bot.patch(f"{ISSUES}/2", {"state": "closed", "state_reason": "not_planned"})
    assert sim.issue("acme/app", 2).duplicate_of is None


@pytest.mark.parametrize(
    "body",
    [
        {"state": "gone"},
        {"state": "closed", "state_reason": "because"},
        {"state": "closed", "state_reason": "duplicate", "duplicate_issue_id": 5},
        {"title": ""},
        {"title": "x" * 257},
        {"body": "x" * 65_537},
        {"title": {"a": 1}},
    ],
)
def test_what_makes_no_sense_is_422(sim: Simulator, bot: Api, body: dict[str, object]) -> None:
    sim.open_issue("acme/app", "ada", "One", "Text")
    answer = bot.patch(f"{ISSUES}/1", body)
    assert answer.status_code == 422
    assert "documentation_url" in answer.json()
    issue = sim.issue("acme/app", 1)
    assert (issue.title, issue.body, issue.state) == ("One", "Text", "open")


def test_what_is_refused_changes_nothing(sim: Simulator, bot: Api) -> None:
    made = {"title": "Never there", "labels": ["new", "x" * 51]}
    assert bot.post(ISSUES, made).status_code == 422
    assert (bot.get(ISSUES).json(), sim.repository("acme/app").open_issues) == ([], 0)
    sim.open_issue("acme/app", "ada", "One")
    changes = {"title": "Two", "body": "Text", "labels": ["new"]}
    for wrong in (
        {"state": "closed", "state_reason": "duplicate", "duplicate_issue_id": 1},
        {"labels": ["new", "x" * 51]},
        {"body": "x" * 70_000},
    ):
        assert bot.patch(f"{ISSUES}/1", {**changes, **wrong}).status_code == 422
    assert bot.put(f"{ISSUES}/1/labels", {"labels": ["new", "x" * 51]}).status_code == 422
    unsure = [{"name": "bug", "suggest": True}, {"name": "new", "suggest": True, "confidence": "perhaps"}]
    assert bot.post(f"{ISSUES}/1/labels", {"labels": unsure}).status_code == 422
    issue = sim.issue("acme/app", 1)
    assert (issue.title, issue.body, issue.labels, issue.suggestions) == ("One", None, [], [])
    assert bot.get("/repos/acme/app/labels/new").status_code == 404


def test_one_label_in_two_spellings_is_one(sim: Simulator, bot: Api) -> None:
    made = bot.post(ISSUES, {"title": "One", "labels": ["bug", "Bug"]}).json()
    assert [label["name"] for label in made["labels"]] == ["bug"]


def test_the_longest_texts_are_taken(bot: Api) -> None:
    made = bot.post(ISSUES, {"title": "é" * 256, "body": "é" * 65_536})
    assert made.status_code == 201
    assert bot.post(f"{ISSUES}/1/comments", {"body": "é" * 65_536}).status_code == 201
    assert bot.post(f"{ISSUES}/1/comments", {"body": "é" * 65_537}).status_code == 422


def test_lists_by_state_label_author_time_and_order(sim: Simulator, bot: Api) -> None:
    for login, label in (("ada", "bug"), ("bea", "bug"), ("ada", "docs")):
        sim.open_issue("acme/app", login, f"By {login}", labels=[label])
        sim.clock.advance(60)
    moment = sim.clock.now()
    sim.close_issue("acme/app", 1)

    def numbers(**query: object) -> list[int]:
        return [issue["number"] for issue in bot.get(ISSUES, params=query).json()]

    assert numbers() == [3, 2]
    assert numbers(state="all") == [3, 2, 1]
    assert numbers(state="closed") == [1]
    assert numbers(state="all", labels="bug", direction="asc") == [1, 2]
    assert numbers(state="all", creator="ada") == [3, 1]
    assert numbers(state="all", sort="updated") == [1, 3, 2]
    assert numbers(state="all", since=moment.isoformat()) == [1]


def test_c_labels_are_added_by_post_and_replaced_by_put_and_patch(sim: Simulator, bot: Api) -> None:
    sim.open_issue("acme/app", "ada", "One", labels=["bug"])

    def names() -> list[str]:
        return [label["name"] for label in bot.get(f"{ISSUES}/1/labels").json()]

    bot.post(f"{ISSUES}/1/labels", {"labels": ["docs", {"name": "made up"}]})
    assert names() == ["bug", "docs", "made up"]
    bot.put(f"{ISSUES}/1/labels", {"labels": ["docs"]})
    assert names() == ["docs"]
    bot.patch(f"{ISSUES}/1", {"labels": ["question", "bug"]})
    assert names() == ["question", "bug"]
    assert bot.delete(f"{ISSUES}/1/labels/question").status_code == 200
    assert bot.delete(f"{ISSUES}/1/labels/question").status_code == 404
    assert bot.delete(f"{ISSUES}/1/labels").status_code == 204
    assert names() == []


def test_labels_of_a_repository(sim: Simulator, bot: Api) -> None:
    sim.open_issue("acme/app", "ada", "One", labels=["bug"])
    assert "duplicate" in [label["name"] for label in bot.get("/repos/acme/app/labels").json()]
    made = bot.post("/repos/acme/app/labels", {"name": "area/ui kit", "color": "ff0000", "description": "x"})
    assert made.status_code == 201
    assert bot.post("/repos/acme/app/labels", {"name": "Area/UI kit"}).json()["errors"][0]["code"] == "already_exists"
    assert bot.get("/repos/acme/app/labels/area%2Fui%20kit").json()["color"] == "ff0000"
    assert bot.patch("/repos/acme/app/labels/bug", {"new_name": "defect"}).json()["name"] == "defect"
    assert bot.get(f"{ISSUES}/1").json()["labels"][0]["name"] == "defect"
    assert bot.delete("/repos/acme/app/labels/defect").status_code == 204
    assert bot.get(f"{ISSUES}/1").json()["labels"] == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "x" * 51},
        {"color": "#ff0000"},
        {"color": "8451c"},
        {"color": "red"},
        {"description": "x" * 101},
    ],
)
def test_labels_that_github_refuses(bot: Api, wrong: dict[str, str]) -> None:
    assert bot.post("/repos/acme/app/labels", {"name": "new", **wrong}).status_code == 422
    changes = {"new_name" if name == "name" else name: value for name, value in wrong.items()}
    assert bot.patch("/repos/acme/app/labels/bug", changes).status_code == 422
    assert bot.get("/repos/acme/app/labels/new").status_code == 404
    assert bot.get("/repos/acme/app/labels/bug").json()["color"] == "d73a4a"


@pytest.mark.parametrize("labels", [[{"name": None}], [{}], [5], "bug"])
def test_an_issue_gets_no_label_without_a_name(sim: Simulator, bot: Api, labels: object) -> None:
    sim.open_issue("acme/app", "ada", "One")
    assert bot.post(f"{ISSUES}/1/labels", {"labels": labels}).status_code == 422
    assert bot.get(f"{ISSUES}/1/labels").json() == []


def test_g_a_label_can_be_a_suggestion(sim: Simulator, bot: Api, person: Callable[..., Api]) -> None:
    sim.open_issue("acme/app", "ada", "One")
    proposal = {"name": "duplicate", "rationale": "Same trace", "confidence": "high", "suggest": True}
    assert bot.post(f"{ISSUES}/1/labels", {"labels": [proposal]}).json() == []
    found = bot.get(f"{ISSUES}/1/suggestions").json()
    assert [(s["target_value"], s["confidence"], s["rationale"], s["state"]) for s in found] == [
        ("duplicate", "HIGH", "Same trace", "pending")
    ]
    approve = f"{ISSUES}/1/suggestions/{found[0]['id']}/approve"
    assert person("rea", "read").post(approve).status_code == 403
    assert person("tri", "triage").post(approve).json()["state"] == "approved"
    assert [label.name for label in sim.issue("acme/app", 1).labels] == ["duplicate"]
    assert bot.get(f"{ISSUES}/1/suggestions").json() == []
    assert len(bot.get(f"{ISSUES}/1/suggestions", params={"state": "all"}).json()) == 1
    echo = bot.patch(f"{ISSUES}/1", {"labels": ["duplicate", proposal]}).json()["suggestions"]["labels"]
    assert echo[0]["ignored_reason"] == "already_applied"


def test_comments(sim: Simulator, bot: Api) -> None:
    sim.open_issue("acme/app", "ada", "One")
    made = bot.post(f"{ISSUES}/1/comments", {"body": "Hello"}).json()
    one = f"{ISSUES}/comments/{made['id']}"
    sim.clock.advance(5)
    edited = bot.patch(one, {"body": "Hello again"}).json()
    assert edited["body"] == "Hello again"
    assert edited["updated_at"] > edited["created_at"]
    assert bot.get(one).json() == edited
    assert bot.get(f"{ISSUES}/1").json()["comments"] == 1
    assert [entry["id"] for entry in bot.get(f"{ISSUES}/comments").json()] == [made["id"]]
    assert bot.get(f"/repos/acme/app/issues/comments/{made['id'] + 1}").status_code == 404
    assert bot.post(f"{ISSUES}/1/comments", {"body": "  "}).status_code == 422
    assert bot.post(f"{ISSUES}/1/comments", {}).status_code == 422
    assert bot.delete(one).status_code == 204
    assert bot.get(one).status_code == 404


def test_reacting_twice_is_once(sim: Simulator, bot: Api) -> None:
    sim.open_issue("acme/app", "ada", "One")
    comment = sim.comment("acme/app", 1, "ada", "/duplicates")
    for path in (f"{ISSUES}/1/reactions", f"{ISSUES}/comments/{comment.id}/reactions"):
        first, second = (bot.post(path, {"content": "eyes"}) for _ in range(2))
        assert (first.status_code, second.status_code) == (201, 200)
        assert first.json() == second.json()
        assert len(bot.get(path).json()) == 1
        assert bot.get(path, params={"content": "+1"}).json() == []
        assert bot.post(path, {"content": "sneer"}).status_code == 422
        assert bot.delete(f"{path}/{first.json()['id']}").status_code == 204
        assert bot.get(path).json() == []


def test_what_is_gone_or_moved_says_so(sim: Simulator, bot: Api) -> None:
    for title in ("One", "Two", "Three"):
        sim.open_issue("acme/app", "ada", title)
    sim.add_repository("acme/other")
    sim.install("acme/other")
    sim.comment("acme/app", 2, "ada", "Stays with it")
    sim.delete_issue("acme/app", 1)
    moved = sim.transfer_issue("acme/app", 2, "acme/other")
    assert bot.get(f"{ISSUES}/1").status_code == 410
    assert bot.get(f"{ISSUES}/99").status_code == 404
    answer = bot.get(f"{ISSUES}/2")
    assert answer.status_code == 301
    assert answer.headers["Location"].endswith(f"/repositories/{moved.repository.id}/issues/1")
    sim.set_private("acme/other", True)
    sim.remove_from_installation("acme/other")
    assert bot.get(f"{ISSUES}/2").status_code == 404
    sim.install("acme/other")
    assert bot.get(f"{ISSUES}/2", allow_redirects=True).json()["comments"] == 1
    assert [entry["body"] for entry in bot.get("/repos/acme/other/issues/1/comments").json()] == ["Stays with it"]
    for belonging in ("comments", "events", "timeline"):
        assert bot.get(f"{ISSUES}/2/{belonging}").status_code == 404, "as GitHub has it"


def test_a_redirect_loses_neither_the_question_nor_the_write(sim: Simulator, bot: Api) -> None:
    for title in ("One", "Two", "Three"):
        sim.open_issue("acme/app", "ada", title)
    sim.close_issue("acme/app", 1)
    sim.create_label("acme/app", "what? #1")
    sim.rename_repository("acme/app", "tool")
    asked = {"state": "all", "per_page": "2", "direction": "asc"}
    listed = bot.get(ISSUES, params=asked, allow_redirects=True)
    assert [entry["number"] for entry in listed.json()] == [1, 2]
    assert bot.get("/repos/acme/app/labels/what%3F%20%231", allow_redirects=True).json()["name"] == "what? #1"
    assert bot.post(f"{ISSUES}/2/comments", {"body": "It is said"}).status_code == 307
    said = bot.post(f"{ISSUES}/2/comments", {"body": "It is said"}, allow_redirects=True)
    assert (said.status_code, said.json()["body"]) == (201, "It is said")
    sim.add_repository("acme/other")
    sim.install("acme/other")
    moved = sim.transfer_issue("acme/tool", 2, "acme/other")
    bot.patch("/repos/acme/tool/issues/2", {"state": "closed"}, allow_redirects=True)
    assert moved.state == "closed"


def test_issues_can_be_switched_off(sim: Simulator, bot: Api) -> None:
    sim.repository("acme/app").has_issues = False
    assert bot.post(ISSUES, {"title": "x"}).status_code == 410
