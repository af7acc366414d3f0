"""What each caller may do, and what it is told where it may not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.simulator import Server, Simulator
from bot.simulator.state.accounts import Installation
from tests.simulator.conftest import Api

WRITES = [
    ("POST", "/repos/acme/app/issues", {"title": "x"}, "issues=write"),
    ("PATCH", "/repos/acme/app/issues/1", {"title": "x"}, "issues=write; pull_requests=write"),
    ("POST", "/repos/acme/app/issues/1/comments", {"body": "x"}, "issues=write; pull_requests=write"),
    ("POST", "/repos/acme/app/issues/1/labels", {"labels": ["bug"]}, "issues=write; pull_requests=write"),
    ("PUT", "/repos/acme/app/issues/1/lock", None, "issues=write; pull_requests=write"),
    ("POST", "/repos/acme/app/issues/1/reactions", {"content": "eyes"}, "issues=write; pull_requests=write"),
]


def narrowed(app: Api, installation: Installation, **body: object) -> Api:
    """A client with a token that was made for less."""
    answer = app.post(f"/app/installations/{installation.id}/access_tokens", body)
    assert answer.status_code == 201, answer.text
    return Api(app.url, answer.json()["token"])


@pytest.mark.parametrize(("method", "path", "body", "accepted"), WRITES)
def test_writing_needs_the_permission(
    sim: Simulator, app: Api, installation: Installation, method: str, path: str, body: object, accepted: str
) -> None:
    sim.open_issue("acme/app", "ada", "One")
    reader = narrowed(app, installation, permissions={"issues": "read"})
    assert reader.get("/repos/acme/app/issues/1").status_code == 200
    answer = reader.call(method, path, body)
    assert (answer.status_code, answer.json()["message"]) == (403, "Resource not accessible by integration")
    assert answer.headers["X-Accepted-GitHub-Permissions"] == accepted


def test_reading_needs_the_permission_too(sim: Simulator, app: Api, installation: Installation) -> None:
    sim.open_issue("acme/app", "ada", "One")
    blind = narrowed(app, installation, permissions={"contents": "read"})
    assert blind.get("/repos/acme/app/issues/1").status_code == 403
    assert blind.get("/repos/acme/app").status_code == 200
    found = blind.get("/search/issues", params={"q": "repo:acme/app is:issue One"})
    assert found.status_code == 422


def test_a_token_cannot_be_wider_than_the_installation(app: Api, sim: Simulator, installation: Installation) -> None:
    sim.add_repository("acme/other")
    path = f"/app/installations/{installation.id}/access_tokens"
    wide = app.post(path, {"permissions": {"administration": "write"}})
    assert (wide.status_code, wide.json()["message"]) == (
        422,
        "The permissions requested are not granted to this installation.",
    )
    assert app.post(path, {"repositories": ["other"]}).status_code == 422


def test_the_app_reads_public_repositories_elsewhere_but_does_not_write_there(sim: Simulator, bot: Api) -> None:
    sim.add_repository("zed/open")
    sim.add_repository("zed/closed", private=True)
    sim.open_issue("zed/open", "ada", "One")
    assert bot.get("/repos/zed/open/issues/1").status_code == 200
    assert bot.post("/repos/zed/open/issues/1/comments", {"body": "x"}).status_code == 403
    assert bot.get("/repos/zed/closed").status_code == 404


def test_single_file_permission_reads_only_the_files_of_the_registration(
    sim: Simulator, app: Api, installation: Installation
) -> None:
    sim.write_file("acme/app", ".github/doppel.yml", "mode: off\n")
    sim.write_file("acme/app", "README.md", "# App\n")
    sim.app.single_files = (".github/doppel.yml",)
    sim.set_permissions("acme", {"metadata": "read", "single_file": "read"})
    single = narrowed(app, installation)
    assert single.get("/repos/acme/app/contents/.github/doppel.yml").status_code == 200
    assert single.get("/repos/acme/app/contents/README.md").status_code == 404


@pytest.mark.parametrize(
    ("role", "statuses"),
    [
        # comment, label another's issue, close another's issue, lock, make a label, read a permission
        ("none", (201, 403, 403, 403, 403, 403)),
        ("read", (201, 403, 403, 403, 403, 403)),
        ("triage", (201, 200, 200, 403, 403, 403)),
        ("write", (201, 200, 200, 204, 201, 200)),
        ("maintain", (201, 200, 200, 204, 201, 200)),
        ("admin", (201, 200, 200, 204, 201, 200)),
    ],
)
def test_what_people_may_do(sim: Simulator, person: Callable[..., Api], role: str, statuses: tuple[int, ...]) -> None:
    sim.open_issue("acme/app", "someone-else", "One")
    api = person("ada", role)
    answers = (
        api.post("/repos/acme/app/issues/1/comments", {"body": "hello"}),
        api.post("/repos/acme/app/issues/1/labels", {"labels": ["bug"]}),
        api.patch("/repos/acme/app/issues/1", {"state": "closed"}),
        api.put("/repos/acme/app/issues/1/lock"),
        api.post("/repos/acme/app/labels", {"name": "new", "color": "ff0000"}),
        api.get("/repos/acme/app/collaborators/ada/permission"),
    )
    assert tuple(answer.status_code for answer in answers) == statuses


def test_a_person_who_calls_through_an_app_may_no_more_than_it(server: Server, sim: Simulator) -> None:
    sim.add_repository("zed/app")
    for repository in ("acme/app", "zed/app"):
        sim.open_issue(repository, "bea", "One")
        sim.set_permission(repository, "ada", "admin")
    code = sim.sign_in_code(sim.app, "ada", "http://127.0.0.1/")
    token = sim.exchange_sign_in(sim.app.client_id, sim.app.client_secret, code, "http://127.0.0.1/")
    ada, close = Api(server.url, token), {"state": "closed"}
    assert ada.patch("/repos/acme/app/issues/1", close).status_code == 200
    assert ada.get("/repos/zed/app/issues/1").status_code == 200
    elsewhere = ada.patch("/repos/zed/app/issues/1", close)
    assert (elsewhere.status_code, elsewhere.json()["message"]) == (403, "Resource not accessible by integration")
    sim.set_permissions("acme", {"metadata": "read", "issues": "read"})
    assert ada.patch("/repos/acme/app/issues/1", {"state": "open"}).status_code == 403
    reopen = "mutation($id: ID!) { reopenIssue(input: {issueId: $id}) { issue { state } } }"
    answer = ada.graphql(reopen, id=sim.issue("acme/app", 1).node_id)
    assert answer["errors"][0]["message"] == "Resource not accessible by integration"


def test_authors_change_their_own_issues_and_comments(sim: Simulator, person: Callable[..., Api]) -> None:
    ada, eve = person("ada"), person("eve")
    number = ada.post("/repos/acme/app/issues", {"title": "Mine", "labels": ["bug"]}).json()["number"]
    assert sim.issue("acme/app", number).labels == [], "labels of people who may not label are dropped"
    said = ada.post(f"/repos/acme/app/issues/{number}/comments", {"body": "Mine"}).json()["id"]
    change = {"state": "closed", "labels": ["bug"]}
    assert ada.patch(f"/repos/acme/app/issues/{number}", change).json()["labels"] == []
    assert ada.patch(f"/repos/acme/app/issues/comments/{said}", {"body": "Still mine"}).status_code == 200
    assert eve.patch(f"/repos/acme/app/issues/{number}", {"title": "Hers"}).status_code == 403
    assert eve.patch(f"/repos/acme/app/issues/comments/{said}", {"body": "Hers"}).status_code == 403
    assert eve.delete(f"/repos/acme/app/issues/comments/{said}").status_code == 403


def test_a_private_repository_is_not_there_for_strangers(server: Server, person: Callable[..., Api]) -> None:
    server.sim.open_issue("acme/app", "ada", "One")
    server.sim.set_private("acme/app", True)
    assert person("stranger").get("/repos/acme/app/issues/1").status_code == 404
    assert Api(server.url).get("/repos/acme/app").status_code == 404
    assert person("friend", "read").get("/repos/acme/app/issues/1").status_code == 200


def test_who_cannot_look_into_a_private_repository_hears_of_no_references_from_there(
    server: Server, sim: Simulator, person: Callable[..., Api]
) -> None:
    sim.add_repository("acme/secret", private=True)
    sim.set_permission("acme/secret", "ada", "write")
    sim.open_issue("acme/app", "ada", "Seen by all")
    sim.open_issue("acme/secret", "ada", "Told to nobody", "As in acme/app#1")
    sim.open_issue("acme/app", "eve", "Fishing", "As in acme/secret#1")

    def sources(api: Api, path: str) -> list[str]:
        entries = api.get(f"/repos/acme/{path}/timeline").json()
        return [entry["source"]["issue"]["title"] for entry in entries if entry["event"] == "cross-referenced"]

    assert (sources(person("ada"), "app/issues/1"), sources(person("eve"), "app/issues/1")) == (["Told to nobody"], [])
    assert sources(person("ada"), "secret/issues/1") == [], "eve could not know that there is anything to refer to"


def test_nobody_reads_public_things_and_writes_nothing(server: Server, sim: Simulator) -> None:
    sim.open_issue("acme/app", "ada", "One")
    nobody = Api(server.url)
    assert nobody.get("/repos/acme/app/issues/1").status_code == 200
    answer = nobody.post("/repos/acme/app/issues/1/comments", {"body": "x"})
    assert (answer.status_code, answer.json()["message"]) == (401, "Requires authentication")


def test_bots_and_strangers_have_no_permission_to_show(sim: Simulator, bot: Api) -> None:
    for login in ("doppel[bot]", "nobody-at-all"):
        answer = bot.get(f"/repos/acme/app/collaborators/{login}/permission")
        assert (answer.status_code, answer.json()["message"]) == (404, f"{login} is not a user")


def test_archived_repositories_are_read_only(sim: Simulator, bot: Api) -> None:
    sim.open_issue("acme/app", "ada", "One")
    sim.archive_repository("acme/app")
    assert bot.get("/repos/acme/app/issues/1").status_code == 200
    answer = bot.post("/repos/acme/app/issues/1/comments", {"body": "x"})
    assert (answer.status_code, answer.json()["message"]) == (403, "Repository was archived so is read-only.")


def test_locked_conversations_are_closed_to_apps_and_readers(
    sim: Simulator, bot: Api, person: Callable[..., Api]
) -> None:
    sim.open_issue("acme/app", "ada", "One")
    sim.lock_issue("acme/app", 1)
    path, body = "/repos/acme/app/issues/1/comments", {"body": "x"}
    assert bot.post(path, body).json()["message"] == "Unable to create comment because issue is locked."
    assert person("ada", "triage").post(path, body).status_code == 403
    assert person("wes", "write").post(path, body).status_code == 201
