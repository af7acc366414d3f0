"""T6: conditional requests, by the real client against the simulator."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest

from bot.domain.errors import Forbidden, NotFound, Unavailable
from bot.github.etag_cache import CachedResponse, ConditionalTransport, ETagCache
from bot.github.repository import RepoClient
from bot.simulator import Simulator
from tests.github.conftest import REPO


@pytest.fixture
def cost(sim: Simulator) -> Callable[[Callable[[], object]], int]:
    """How many requests of the installation's primary limit something costs."""
    caller = f"installation:{next(iter(sim.installations))}"

    def cost(work: Callable[[], object]) -> int:
        before = sim.limits.state(caller, "core")["used"]
        work()
        return sim.limits.state(caller, "core")["used"] - before

    return cost


def test_t6_what_has_not_changed_costs_nothing(
    sim: Simulator, client: RepoClient, cost: Callable[[Callable[[], object]], int]
) -> None:
    sim.write_file("acme/app", "docs/one.md", "one")
    sim.open_issue("acme/app", "alice", "It crashes", "at once")

    def read() -> tuple[object, ...]:
        return (
            client.file(REPO, "docs/one.md"),
            client.directory(REPO, "docs"),
            client.labels(REPO),
            client.issue(REPO, 1),
            client.repository(REPO),
        )

    first = read()
    assert first[0] == "one"
    assert cost(lambda: None) == 0
    assert cost(read) == 0
    assert read() == first


def test_t6_what_has_changed_is_read_anew(sim: Simulator, client: RepoClient) -> None:
    """An issue's `updated_at` is part of what GitHub's ETag is made from."""
    sim.write_file("acme/app", "docs/one.md", "one")
    sim.open_issue("acme/app", "alice", "It crashes", "at once")
    assert (client.file(REPO, "docs/one.md"), client.issue(REPO, 1).title) == ("one", "It crashes")
    sim.write_file("acme/app", "docs/one.md", "two")
    sim.edit_issue("acme/app", 1, title="It crashes on start")
    assert (client.file(REPO, "docs/one.md"), client.issue(REPO, 1).title) == ("two", "It crashes on start")
    sim.delete_issue("acme/app", 1)
    with pytest.raises(NotFound):
        client.issue(REPO, 1)


def test_t6_an_answer_that_was_cut_off_is_not_kept(sim: Simulator, client: RepoClient) -> None:
    sim.open_issue("acme/app", "alice", "It crashes", "at once")
    sim.faults.add("GET /repos/*/issues/*", "malformed")
    with pytest.raises(Unavailable):
        client.issue(REPO, 1)
    assert client.issue(REPO, 1).title == "It crashes"


def test_t6_a_renamed_repository_is_read_under_its_new_name_though_the_answer_is_the_same(
    sim: Simulator, client: RepoClient
) -> None:
    """A list without entries names no repository, so that its ETag is the old one's."""
    for name in list(sim.repo("acme/app").labels):
        sim.delete_label("acme/app", name)
    assert client.labels(REPO) == frozenset()
    sim.rename_repository("acme/app", "product")
    assert client.labels(REPO) == frozenset()


def test_t6_nobody_gets_from_memory_what_they_may_not_read(sim: Simulator, client: RepoClient) -> None:
    """GitHub decides each time, with the present token."""
    sim.open_issue("acme/app", "alice", "It crashes", "at once")
    client.issue(REPO, 1)
    sim.set_permissions("acme", {"metadata": "read"})
    with pytest.raises((Forbidden, NotFound)):
        client.issue(REPO, 1)


def test_what_was_asked_for_least_recently_goes_when_there_is_too_much() -> None:
    memory, ten = ETagCache(25), CachedResponse({"etag": "e"}, b"0123456789")
    for url in ("a", "b"):
        memory.put("x", url, ten)
    memory.get("x", "a")
    memory.put("x", "a", ten)
    memory.put("x", "c", ten)
    assert [url for url in "abc" if memory.get("x", url)] == ["a", "c"]


def through(memory: ETagCache, answer: Callable[[httpx.Request], httpx.Response]) -> httpx.Client:
    transport = ConditionalTransport(httpx.MockTransport(answer), memory, account="a", base_path="/api/v3/")
    return httpx.Client(transport=transport, base_url="https://ghe.example/api/v3")


def kept(memory: ETagCache) -> bool:
    """Whether anything that is asked for below was kept."""
    names = ("labels", "contents", "issues", "issues/3", "issues/3/comments", f"contents/{'x' * 1_000}")
    urls = [f"https://ghe.example/api/v3/repos/acme/app/{name} */*" for name in names]
    return any(memory.get("a", url) for url in urls)


def test_what_is_not_asked_conditionally() -> None:
    """Writes, lists that always change, other hosts' paths, and requests that have a condition of their own."""
    asked: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.headers.get("If-None-Match"))
        return httpx.Response(200, headers={"ETag": "x"}, json={})

    memory = ETagCache()
    with through(memory, answer) as client:
        for _ in range(2):
            client.patch("/repos/acme/app/issues/3", json={})
            client.get("/repos/acme/app/issues")
            client.get("/repos/acme/app/issues/3/comments")
            client.get("/search/issues?q=x")
            client.get("/repos/acme/app/labels", headers={"If-None-Match": "mine"})
            client.get("/repos/acme/app/contents/" + "x" * 1_000)
    assert set(asked) == {None, "mine"}
    assert not kept(memory)
