"""Rate limits with a clock that is moved, and failures on demand."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import requests

from bot.simulator import Clock, Server, Simulator
from bot.simulator.errors import ApiError
from bot.simulator.faults import Faults
from bot.simulator.limits import Limits
from tests.simulator.conftest import START, Api
from tests.waiting import wait_until

ISSUE = "/repos/acme/app/issues/1"


@pytest.fixture(autouse=True)
def an_issue(sim: Simulator) -> None:
    sim.open_issue("acme/app", "ada", "It crashes at start", "Text")


def test_g_the_primary_limit_and_its_headers(sim: Simulator, bot: Api) -> None:
    sim.limits.primary["core"] = (3, 3600)
    left = [bot.get(ISSUE).headers["x-ratelimit-remaining"] for _ in range(3)]
    assert left == ["2", "1", "0"]
    refused = bot.get(ISSUE)
    assert refused.status_code == 403
    assert refused.json()["message"].startswith("API rate limit exceeded for installation ID ")
    assert refused.headers["x-ratelimit-reset"] == str(int(START.timestamp()) + 3600)
    assert (refused.headers["x-ratelimit-resource"], refused.headers["x-ratelimit-used"]) == ("core", "3")
    assert bot.get("/rate_limit").json()["resources"]["core"]["remaining"] == 0
    sim.clock.advance(3600)
    assert bot.get("/rate_limit").status_code == 401, "the token is over by then, too"


def test_g_a_workflow_has_a_thousand_requests_an_hour_and_the_permissions_of_its_file(
    server: Server, sim: Simulator
) -> None:
    api = Api(server.url, sim.workflow_token("acme/app", {"issues": "read"}))
    assert api.get(ISSUE).headers["x-ratelimit-limit"] == "1000"
    refused = api.post(f"{ISSUE}/comments", {"body": "Hello"})
    assert (refused.status_code, refused.json()["message"]) == (403, "Resource not accessible by integration")
    assert refused.headers["X-Accepted-GitHub-Permissions"] == "issues=write; pull_requests=write"


def test_g_searches_have_budgets_of_their_own(sim: Simulator, bot: Api) -> None:
    lexical = {"q": "repo:acme/app is:issue crashes"}
    hybrid = lexical | {"search_type": "hybrid"}
    assert [bot.get("/search/issues", params=lexical).status_code for _ in range(31)] == [200] * 30 + [403]
    assert [bot.get("/search/issues", params=hybrid).status_code for _ in range(11)] == [200] * 10 + [403]
    assert bot.get(ISSUE).status_code == 200
    sim.clock.advance(60)
    answer = bot.get("/search/issues", params=lexical)
    assert (answer.status_code, answer.headers["x-ratelimit-resource"]) == (200, "search")


def test_g_content_creation_is_limited_by_the_minute_and_the_hour() -> None:
    clock = Clock(START)
    limits = Limits(clock)

    def refusal() -> int | None:
        try:
            limits.create("installation:1")
        except ApiError as error:
            return int(error.headers["Retry-After"])
        return None

    assert [refusal() for _ in range(80)] == [None] * 80
    assert refusal() == 60
    for _ in range(5):
        clock.advance(60)
        assert [refusal() for _ in range(80)] == [None] * 80
    clock.advance(60)
    assert [refusal() for _ in range(20)] == [None] * 20
    assert refusal() == 3600 - 6 * 60
    limits.create("installation:2")


def test_g_creating_too_much_over_http(sim: Simulator, bot: Api) -> None:
    sim.limits.creations_per_minute = 1
    assert bot.post(f"{ISSUE}/comments", {"body": "One"}).status_code == 201
    refused = bot.post(f"{ISSUE}/comments", {"body": "Two"})
    assert (refused.status_code, refused.headers["Retry-After"]) == (403, "60")
    assert "secondary rate limit" in refused.json()["message"]
    assert len(sim.comments("acme/app", 1)) == 1
    assert bot.patch(ISSUE, {"title": "Editing creates nothing"}).status_code == 200


def test_g_points_by_the_minute(sim: Simulator, bot: Api) -> None:
    sim.limits.points_per_minute["core"] = 7
    assert bot.get(ISSUE).status_code == 200
    assert bot.patch(ISSUE, {"title": "Five points"}).status_code == 200
    assert bot.get(ISSUE).status_code == 200
    refused = bot.get(ISSUE)
    assert (refused.status_code, refused.headers["Retry-After"]) == (403, "60")
    sim.clock.advance(60)
    assert bot.get(ISSUE).status_code == 200


def test_g_requests_at_once() -> None:
    limits = Limits(Clock(START))
    limits.concurrent = 2
    limits.enter("a", "core", 1)
    limits.enter("a", "core", 1)
    with pytest.raises(ApiError, match="secondary rate limit"):
        limits.enter("a", "core", 1)
    limits.enter("b", "core", 1)
    limits.leave("a")
    limits.enter("a", "core", 1)


def test_e3_user_limits_can_be_off_for_people_alone(sim: Simulator, bot: Api, person: Callable[..., Api]) -> None:
    sim.limits.exempt_users = True
    sim.limits.primary["search"] = (1, 60)
    ada, query = person("ada"), {"q": "repo:acme/app crashes is:issue"}
    assert [ada.get("/search/issues", params=query).status_code for _ in range(3)] == [200] * 3
    assert [bot.get("/search/issues", params=query).status_code for _ in range(2)] == [200, 403]


def test_graphql_says_in_its_body_that_the_limit_is_reached(sim: Simulator, bot: Api) -> None:
    sim.limits.primary["graphql"] = (1, 3600)
    assert "errors" not in bot.graphql("{ viewer { login } }")
    answer = bot.post("/graphql", {"query": "{ viewer { login } }"})
    assert (answer.status_code, answer.headers["x-ratelimit-remaining"]) == (200, "0")
    assert answer.json()["errors"][0]["type"] == "RATE_LIMITED"


def test_nobody_has_sixty_an_hour(server: Server) -> None:
    assert Api(server.url).get(ISSUE).headers["x-ratelimit-limit"] == "60"


def test_nobody_has_ten_searches_a_minute(server: Server) -> None:
    statuses = [Api(server.url).get("/search/issues", params={"q": "repo:acme/app x"}).status_code for _ in range(11)]
    assert statuses == [200] * 10 + [403]


@pytest.mark.parametrize(
    ("kind", "written"), [("timeout", 0), ("timeout_after_write", 1), ("reset", 0), ("reset_after_write", 1)]
)
def test_failures_before_and_after_the_write(sim: Simulator, bot: Api, kind: str, written: int) -> None:
    fault, timed_out = sim.faults.add("POST /repos/*/comments", kind), "timeout" in kind  # type: ignore[arg-type]
    with pytest.raises(requests.ReadTimeout if timed_out else requests.ConnectionError):
        bot.post(f"{ISSUE}/comments", {"body": "One"}, timeout=0.2 if timed_out else 60)
    wait_until(lambda: fault.hits and len(sim.comments("acme/app", 1)) == written)


def test_chances_are_drawn_from_the_seed() -> None:
    def draws(seed: int) -> list[bool]:
        faults = Faults()
        faults.add("*", 500, times=None, probability=0.5, seed=seed)
        return [faults.take("GET", "/") is not None for _ in range(100)]

    assert draws(1) == draws(1)
    assert draws(1) != draws(2)
    assert 30 < sum(draws(1)) < 70


def test_a_fault_that_makes_no_sense_is_refused(sim: Simulator) -> None:
    with pytest.raises(ValueError, match="teapot"):
        sim.faults.add("*", "teapot")  # type: ignore[arg-type]
