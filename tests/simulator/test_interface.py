"""What holds for every route: pages, ETags, unknown requests, the API about itself, Apps from manifests, controls."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from bot.simulator import Server, Simulator, start_simulator, validation
from bot.simulator.payloads.issues import issue as issue_json
from bot.simulator.routes import ROUTES
from tests.simulator.conftest import Api, Receiver, sign


def test_pages_lead_to_each_other(sim: Simulator, bot: Api) -> None:
    for number in range(5):
        sim.open_issue("acme/app", "ada", f"Number {number}")
    first = bot.get("/repos/acme/app/issues", params={"per_page": 2, "direction": "asc"})
    assert set(first.links) == {"next"}
    seen = [issue["number"] for issue in first.json()]
    following: Any = first
    while "next" in following.links:
        following = bot.get(following.links["next"]["url"].removeprefix(bot.url))
        seen += [issue["number"] for issue in following.json()]
    assert seen == [1, 2, 3, 4, 5]
    assert following.links == {}
    assert bot.get("/repos/acme/app/issues", params={"page": 9}).json() == []
    assert bot.get("/repos/acme/app/issues", params={"per_page": "many", "page": "-1"}).status_code == 200
    for number in range(5):
        sim.comment("acme/app", 1, "ada", f"Comment {number}")
    comments = bot.get("/repos/acme/app/issues/1/comments", params={"per_page": 2})
    assert set(comments.links) == {"next", "last"}
    assert set(bot.get(comments.links["last"]["url"].removeprefix(bot.url)).links) == {"first", "prev"}


def test_issues_are_paged_by_cursor_whatever_happens_meanwhile(sim: Simulator, bot: Api) -> None:
    for number in range(5):
        sim.open_issue("acme/app", "ada", f"Number {number}")
        sim.clock.advance(1)
    first = bot.get("/repos/acme/app/issues", params={"per_page": 2, "direction": "asc", "sort": "updated"})
    sim.edit_issue("acme/app", 1, title="Another title")
    following = bot.get(first.links["next"]["url"].removeprefix(bot.url))
    assert [issue["number"] for issue in following.json()] == [3, 4]
    refused = bot.get("/repos/acme/app/issues", params={"per_page": 100, "page": 100})
    assert (refused.status_code, refused.json()["message"].partition(",")[0]) == (
        422,
        "Pagination with the page parameter is not supported for large datasets",
    )
    for cursor in (b"nonsense", b"[1, Infinity]", b"[1e400, 1e400]", b"[" * 20_000):
        after = {"after": base64.urlsafe_b64encode(cursor).decode()}
        assert bot.get("/repos/acme/app/issues", params=after).status_code == 422
    assert bot.get("/repositories/" + "9" * 5_000).status_code == 404


def test_an_etag_holds_for_the_token_that_it_was_given_to(sim: Simulator, bot: Api) -> None:
    sim.open_issue("acme/app", "ada", "One")
    tag = bot.get("/repos/acme/app/issues").headers["ETag"]
    assert bot.get("/repos/acme/app/issues", headers={"If-None-Match": tag}).status_code == 304
    other = Api(bot.url, sim.user_token("ada"))
    assert other.get("/repos/acme/app/issues", headers={"If-None-Match": tag}).status_code == 200


def test_searches_that_are_refused(server: Server, bot: Api) -> None:
    query = {"q": "repo:acme/app is:issue x", "search_type": "psychic"}
    answer = bot.get("/search/issues", params=query)
    assert (answer.status_code, answer.json()["message"]) == (422, "Validation Failed")
    assert Api(server.url).get("/search/issues", params=query | {"search_type": "hybrid"}).status_code == 401


def test_searching_follows_what_happens(sim: Simulator, bot: Api) -> None:
    def found(words: str) -> int:
        answer = bot.get("/search/issues", params={"q": f"repo:acme/app is:issue {words}"})
        count: int = answer.json().get("total_count", -1)
        return count

    sim.open_issue("acme/app", "ada", "Zebra")
    assert found("zebra is:open") == 1
    sim.edit_issue("acme/app", 1, title="Giraffe")
    assert (found("zebra"), found("giraffe")) == (0, 1)
    sim.comment("acme/app", 1, "bea", "It has stripes")
    assert found("stripes in:comments") == 1
    sim.close_issue("acme/app", 1, reason="not_planned")
    assert (found("giraffe is:open"), found('giraffe reason:"not planned"')) == (0, 1)
    sim.rename_repository("acme/app", "zoo")
    assert found("giraffe") == -1
    sim.rename_repository("acme/zoo", "app")
    sim.delete_issue("acme/app", 1)
    assert found("giraffe") == 0


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/repos/acme/app/forks"), ("DELETE", "/repos/acme/app"), ("GET", "/gists"), ("PUT", "/user")],
)
def test_an_unknown_route_is_refused_loudly(sim: Simulator, bot: Api, method: str, path: str) -> None:
    answer = bot.call(method, path)
    assert answer.status_code == 501
    assert answer.json()["message"] == f"The simulator has no route for {method} {path}"
    assert sim.unknown_requests == [f"{method} {path}"]


def test_what_the_simulator_would_have_to_ignore_is_refused_too(sim: Simulator, bot: Api) -> None:
    assert bot.get("/repos/acme/app/issues", params={"assignee": "ada"}).status_code == 501
    assert bot.post("/repos/acme/app/issues", {"title": "x", "milestone": 1}).status_code == 501
    assert len(sim.unknown_requests) == 2


def test_bodies_that_are_no_json(bot: Api) -> None:
    answer = bot.session.post(
        f"{bot.url}/repos/acme/app/issues", data=b"{", headers={"Authorization": f"Bearer {bot.token}"}
    )
    assert (answer.status_code, answer.json()["message"]) == (400, "Problems parsing JSON")
    assert bot.post("/repos/acme/app/issues", ["title"]).status_code in (400, 422)
    for title in ("half \ud83d", {"in": ["\udc00"]}):
        assert bot.post("/repos/acme/app/issues", {"title": title}).status_code == 400
    assert bot.post("/repos/acme/app/issues", {"title": "whole \U0001f986"}).json()["title"] == "whole \U0001f986"


def test_the_api_about_itself(bot: Api, server: Server) -> None:
    assert bot.get("/").json()["issue_search_url"].startswith(server.url)
    assert bot.get("/meta").json()["verifiable_password_authentication"] is False
    assert bot.get("/versions").json() == ["2022-11-28", "2026-03-10"]
    assert bot.get("/users/doppel[bot]").json()["type"] == "Bot"
    assert bot.get("/users/nobody").status_code == 404
    before, after = (bot.get("/rate_limit").json()["rate"]["used"] for _ in range(2))
    assert before == after, "asking costs nothing"


def test_installations_are_found_by_repository_organization_and_user(sim: Simulator, app: Api) -> None:
    sim.add_repository("ada/tool", owner_type="User")
    sim.install("ada")
    acme, ada = (entry["id"] for entry in app.get("/app/installations").json())
    assert app.get("/repos/acme/app/installation").json()["id"] == acme
    assert app.get("/orgs/acme/installation").json()["id"] == acme
    assert app.get("/users/ada/installation").json()["target_type"] == "User"
    assert app.get("/repos/ada/tool/installation").json()["id"] == ada
    assert app.get("/orgs/ada/installation").status_code == 404
    assert app.get("/repos/acme/nowhere/installation").status_code == 404
    assert app.get("/app").json()["installations_count"] == 2
    assert app.delete(f"/app/installations/{ada}").status_code == 204
    assert app.get("/users/ada/installation").status_code == 404


def test_g_a_manifest_code_is_exchanged_once_within_the_hour(server: Server, sim: Simulator) -> None:
    manifest = {"name": "My Doppel!", "default_permissions": {"issues": "write"}, "default_events": ["issues"]}
    nobody = Api(server.url)
    code, late = (sim.manifest_code(manifest, "ada") for _ in range(2))
    made = nobody.post(f"/app-manifests/{code}/conversions")
    assert made.status_code == 201
    body = made.json()
    assert (body["slug"], body["owner"]["login"], body["events"]) == ("my-doppel", "ada", ["issues"])
    assert nobody.post(f"/app-manifests/{code}/conversions").status_code == 404
    sim.clock.advance(3600)
    assert nobody.post(f"/app-manifests/{late}/conversions").status_code == 404
    token = sign(server, iss=body["client_id"], key=body["pem"])
    assert Api(server.url, token).get("/app").json()["id"] == body["id"]


def test_two_apps_hear_of_it_each_with_its_secret(sim: Simulator, receiver: Receiver) -> None:
    code = sim.manifest_code(
        {"name": "Other", "default_permissions": {"issues": "read"}, "default_events": ["issues"],
         "hook_attributes": {"url": receiver.url}}, "ada",
    )  # fmt: skip
    other = sim.convert_manifest(code)
    assert other is not None
    sim.install("acme/app", app_id=other.id)
    sim.app.hook.url = receiver.url
    sim.open_issue("acme/app", "ada", "One")
    sim.webhooks.join()
    targets = [got.headers["X-GitHub-Hook-Installation-Target-ID"] for got in receiver.received]
    assert targets == [str(other.id), str(sim.app.id), str(other.id)]
    assert len({got.headers["X-Hub-Signature-256"] for got in receiver.received[1:]}) == 2


def test_an_enterprise_serves_under_its_prefix() -> None:
    with start_simulator(enterprise=True) as server:
        server.sim.add_repository("acme/app")
        assert server.url.endswith("/api/v3")
        token = server.sim.user_token("ada")
        body = Api(server.url, token, version="2022-11-28").get("/repos/acme/app").json()
        assert body["url"].startswith(server.url)
        # As servers before 3.21 do.
        assert Api(server.url, token, version="2026-03-10").get("/repos/acme/app").status_code == 400
        graphql = Api(server.url.removesuffix("/v3"), token, version=None).graphql("{ viewer { login } }")
        assert graphql == {"data": {"viewer": {"login": "ada"}}}


def test_controls_need_the_key(server: Server, sim: Simulator) -> None:
    nobody = Api(server.url)
    assert nobody.get("/_sim/state").status_code == 403
    keyed = {"headers": {"X-Simulator-Key": server.webhook_secret}}
    issue = {"repository": "acme/app", "author": "ada", "title": "By control", "labels": ["bug"]}
    assert nobody.post("/_sim/issues", issue, **keyed).json()["number"] == 1
    said = {"repository": "acme/app", "number": 1, "author": "bea", "body": "Me too"}
    assert nobody.post("/_sim/comments", said, **keyed).status_code == 201
    assert nobody.post("/_sim/faults", {"pattern": "/repos/*", "status": 502}, **keyed).status_code == 201
    assert nobody.post("/_sim/faults", {"status": "teapot"}, **keyed).status_code == 422
    assert nobody.get("/repos/acme/app").status_code == 502
    assert nobody.delete("/_sim/faults", **keyed).status_code == 204
    before = sim.now()
    assert nobody.post("/_sim/clock", {"advance": 60}, **keyed).status_code == 200
    assert (sim.now() - before).total_seconds() == 60
    (repository,) = nobody.get("/_sim/state", **keyed).json()["repositories"]
    assert repository["issues"][0]["comments"][0]["body"] == "Me too"
    assert nobody.post("/_sim/issues", {**issue, "repository": "no/where"}, **keyed).status_code == 404


def test_controls_work_whatever_fails_and_as_often_as_wanted(server: Server, sim: Simulator) -> None:
    nobody, keyed = Api(server.url), {"headers": {"X-Simulator-Key": server.webhook_secret}}
    assert nobody.post("/_sim/faults", {"status": 502, "times": None}, **keyed).status_code == 201
    issue = {"repository": "acme/app", "title": "By control"}
    assert {nobody.post("/_sim/issues", issue, **keyed).status_code for _ in range(sim.limits.anonymous + 1)} == {201}
    assert nobody.get("/repos/acme/app").status_code == 502
    assert nobody.delete("/_sim/faults", **keyed).status_code == 204
    assert nobody.get("/repos/acme/app").status_code == 200


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/_sim/issues", {"repository": "acme/app"}, 422),
        ("/_sim/issues", {"repository": "acme/app", "title": "x", "author": 5}, 422),
        ("/_sim/issues", {"repository": "acme/app", "title": "x", "labels": "bug"}, 422),
        ("/_sim/comments", {"repository": "acme/app", "number": 99, "body": "x"}, 404),
        ("/_sim/comments", {"repository": "acme/app", "body": "x"}, 422),
        ("/_sim/faults", {"times": "3"}, 422),
        ("/_sim/faults", {"times": -1}, 422),
        ("/_sim/faults", {"probability": "half"}, 422),
        ("/_sim/clock", {}, 422),
        ("/_sim/clock", {"advance": "soon"}, 422),
        # Milliseconds since 1970, as JavaScript tells the time.
        ("/_sim/clock", {"advance": 1_790_000_000_000}, 422),
        ("/_sim/clock", {"advance": 1e300}, 422),
    ],
)
def test_a_slip_of_who_moves_the_levers_is_told_and_breaks_nothing(
    server: Server, sim: Simulator, path: str, body: dict[str, Any], status: int
) -> None:
    nobody, before = Api(server.url), sim.now()
    answer = nobody.post(path, body, headers={"X-Simulator-Key": server.webhook_secret})
    assert answer.status_code == status, answer.text
    assert nobody.get("/repos/acme/app").status_code == 200
    assert sim.now() == before


def test_every_answer_has_a_model_or_a_reason_to_have_none() -> None:
    without = {(route.method, route.path) for route in ROUTES if route.model is None and "/_sim/" not in route.path}
    assert without == {
        # No body.
        *(("DELETE", path) for method, path in without if method == "DELETE"),
        ("PUT", "/repos/<owner>/<repo>/issues/<int:number>/lock"),
        ("POST", "/app/hook/deliveries/<int:delivery_id>/attempts"),
        # The model depends on what is found.
        ("GET", "/repos/<owner>/<repo>/contents/<anything:path>"),
        # githubkit has none: what no manual describes yet, a list of words, and GraphQL's own types.
        ("GET", "/repos/<owner>/<repo>/issues/<int:number>/semantically_similar"),
        ("GET", "/versions"),
        ("POST", "/graphql"),
    }


def test_a_body_that_githubs_description_does_not_allow_is_our_fault(sim: Simulator) -> None:
    body = issue_json(sim, sim.open_issue("acme/app", "ada", "One"))
    validation.check("Issue", body)
    with pytest.raises(validation.ContractViolation, match="number"):
        validation.check("Issue", body | {"number": "one"})
    with pytest.raises(validation.ContractViolation, match="no model"):
        validation.check("Isue", body)
    with pytest.raises(validation.ContractViolation, match="WebhookIssuesOpened"):
        validation.check_event("issues", "opened", {"action": "opened"})
