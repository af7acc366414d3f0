"""G: every limit is kept, and every failure of GitHub's survived, by the real client against the simulator."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable

import httpx
import pytest

from bot.domain.errors import GitHubError, NotFound, RateLimited, Unavailable
from bot.github.client import GitHub
from bot.github.repository import RepoClient
from bot.github.transport import open_connections, time_limit
from bot.platform.metrics import GITHUB_REQUESTS
from bot.platform.tracing import with_context
from bot.simulator import Simulator
from bot.simulator.faults import Kind
from tests.github.conftest import REPO, SimulatedTime
from tests.waiting import wait_until

ISSUE = "GET /repos/acme/app/issues/1"
COMMENTS = "POST /repos/acme/app/issues/1/comments"


@pytest.fixture(autouse=True)
def issue(sim: Simulator) -> None:
    sim.open_issue("acme/app", "alice", "It crashes", "At start.")


def test_g_retry_after_is_honoured_to_the_second(
    client: RepoClient, sim: Simulator, simulated_time: SimulatedTime
) -> None:
    sim.faults.add(ISSUE, "secondary_limit", retry_after=7)
    assert client.issue(REPO, 1).title == "It crashes"
    assert simulated_time.slept == [pytest.approx(7, abs=0.1)]


def test_g_a_long_wait_is_handed_to_the_queue_and_holds_for_all_requests(
    client: RepoClient, sim: Simulator, simulated_time: SimulatedTime
) -> None:
    fault = sim.faults.add(ISSUE, "secondary_limit", retry_after=90, code=429)
    with pytest.raises(RateLimited) as caught:
        client.issue(REPO, 1)
    assert caught.value.after == 90
    with pytest.raises(RateLimited) as caught:
        client.repository(REPO)
    assert caught.value.after == pytest.approx(90, abs=1)
    assert (fault.hits, simulated_time.slept) == (1, [])
    sim.clock.advance(91)
    assert client.issue(REPO, 1).number == 1


def test_g_graphql_tells_of_a_limit_with_status_200(
    client: RepoClient, sim: Simulator, repo_id: int, simulated_time: SimulatedTime
) -> None:
    """It read as if there was nothing to tell: no original, no count."""
    sim.close_issue("acme/app", 1, reason="duplicate", duplicate_of=sim.open_issue("acme/app", "bob", "First"))
    sim.faults.add("POST /graphql", "secondary_limit", code=200, retry_after=7)
    assert client.originals(REPO, [1]) == {1: 2}
    assert simulated_time.slept == [pytest.approx(7, abs=0.1)]
    sim.faults.add("POST /graphql", "secondary_limit", code=200)
    with pytest.raises(RateLimited) as caught:
        client.count_issues(REPO, repo_id)
    assert caught.value.after == 60
    with pytest.raises(RateLimited):
        client.issue(REPO, 1)


def test_g_without_a_hint_the_wait_is_a_minute_and_doubles(client: RepoClient, sim: Simulator) -> None:
    sim.faults.add(ISSUE, "secondary_limit", times=3)
    waits = []
    for _ in range(3):
        with pytest.raises(RateLimited) as caught:
            client.issue(REPO, 1)
        assert caught.value.after is not None
        waits.append(caught.value.after)
        sim.clock.advance(caught.value.after + 0.1)
    assert waits == [60, 120, 240]
    client.issue(REPO, 1)
    sim.faults.add(ISSUE, "secondary_limit")
    with pytest.raises(RateLimited) as caught:
        client.issue(REPO, 1)
    assert caught.value.after == 60


def test_g_the_primary_limit_is_waited_for_until_its_reset(
    client: RepoClient, sim: Simulator, simulated_time: SimulatedTime
) -> None:
    sim.limits.primary["core"] = (8, 3600.0)
    for _ in range(8):
        client.comments(REPO, 1)
    with pytest.raises(RateLimited) as caught:
        client.comments(REPO, 1)
    assert caught.value.after == pytest.approx(3600, abs=2)
    assert simulated_time.slept == []
    sim.clock.advance(3602)
    assert client.issue(REPO, 1).number == 1


def test_g_pacing_is_shared_by_threads_and_by_the_tokens_of_an_installation(
    connect: Callable[..., GitHub], sim: Simulator
) -> None:
    github = connect()
    installation = github.app().installation_of(REPO)
    repository = github.installation(installation).repository(REPO)
    outcomes: list[str] = []

    def work(client: RepoClient) -> None:
        for _ in range(8):
            try:
                client.search("repo:acme/app is:issue crashes")
            except RateLimited:
                outcomes.append("paced")
            else:
                outcomes.append("answered")

    clients = [github.installation(installation), github.installation(installation, repository_ids=[repository.id])]
    threads = [threading.Thread(target=work, args=(client,)) for client in clients * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (outcomes.count("answered"), outcomes.count("paced")) == (30, 18)
    assert sim.limits.state(f"installation:{installation}", "search")["used"] == 30


@pytest.mark.parametrize("failure", [500, 502, 503, 504, "reset"])
def test_a_failed_read_is_tried_again(
    client: RepoClient, sim: Simulator, simulated_time: SimulatedTime, failure: int
) -> None:
    fault = sim.faults.add(ISSUE, failure, times=3)
    assert client.issue(REPO, 1).number == 1
    assert (fault.hits, simulated_time.slept) == (3, [0.5, 1.0, 2.0])


@pytest.mark.slow
@pytest.mark.parametrize("failure", [502, "reset_after_write", "timeout_after_write"])
def test_a_comment_is_never_blindly_posted_twice(connect: Callable[..., GitHub], sim: Simulator, failure: int) -> None:
    # In real seconds.
    github = connect(timeout=2.0)
    client = github.installation(github.app().installation_of(REPO))
    client.issue(REPO, 1)
    fault = sim.faults.add(COMMENTS, failure, times=None)
    with pytest.raises(Unavailable):
        client.create_comment(REPO, 1, "Seen before.")
    assert fault.hits == 1
    wait_until(lambda: len(sim.comments("acme/app", 1)) == (0 if failure == 502 else 1))


def test_a_comment_that_was_refused_for_a_limit_is_posted_once_it_is_over(client: RepoClient, sim: Simulator) -> None:
    sim.faults.add(COMMENTS, "secondary_limit", retry_after=3)
    client.create_comment(REPO, 1, "Seen before.")
    assert len(sim.comments("acme/app", 1)) == 1


def test_nobody_there_is_unavailable(connect: Callable[..., GitHub], simulated_time: SimulatedTime) -> None:
    # Port 1 of this machine: nothing listens there.
    github = connect(api_url="http://127.0.0.1:1")
    with pytest.raises(Unavailable, match="GitHub cannot be reached"):
        github.app().get_app()
    assert simulated_time.slept == [0.5, 1.0, 2.0]


def test_a_write_does_not_follow_an_issue_to_another_repository(client: RepoClient, sim: Simulator) -> None:
    sim.add_repository("acme/other")
    moved = sim.transfer_issue("acme/app", 1, "acme/other")
    with pytest.raises(NotFound, match="moved"):
        client.create_comment(REPO, 1, "meant for acme/app alone")
    assert sim.comments("acme/other", moved.number) == []


def test_connections_stay_open(client: RepoClient, sim: Simulator) -> None:
    """githubkit closes its client after every request; the pool below must outlive that."""
    client.issue(REPO, 1)
    pool = client._api.github.config.transport._inner.connections._pool  # type: ignore[union-attr]
    before = list(pool.connections)
    for _ in range(5):
        client.issue(REPO, 1)
    assert list(pool.connections) == before
    assert len(before) == 1


def test_the_usual_proxy_variables_are_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("no_proxy", "github.acme.example")
    proxied = open_connections(httpx.URL("https://api.github.com/"))
    direct = open_connections(httpx.URL("https://github.acme.example/api/v3/"))
    assert [type(each._pool).__name__ for each in (proxied, direct)] == ["HTTPProxy", "ConnectionPool"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_no_proxy_leads_to_a_github_on_this_machine(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    assert type(open_connections(httpx.URL(f"http://{host}:3000/"))._pool).__name__ == "ConnectionPool"


@pytest.mark.parametrize(
    ("fault", "counted"),
    [
        (None, ["ok"]),
        ("secondary_limit", ["limited", "ok"]),
        (502, ["failed", "ok"]),
        (410, ["refused"]),
        ("reset", ["unanswered", "ok"]),
    ],
)
def test_what_came_back_is_counted(
    client: RepoClient, sim: Simulator, fault: int | Kind | None, counted: list[str]
) -> None:
    client.comments(REPO, 1)
    if fault is not None:
        sim.faults.add(f"{ISSUE}/comments", fault, retry_after=7 if fault == "secondary_limit" else None)
    before = results()
    with contextlib.suppress(GitHubError):
        client.comments(REPO, 1)
    assert sorted((results() - before).elements()) == sorted(counted)


def results() -> Counter[str]:
    """How many requests have come back as what, whatever they were for."""
    samples = (sample for metric in GITHUB_REQUESTS.collect() for sample in metric.samples)
    found: Counter[str] = Counter()
    for sample in samples:
        if sample.name.endswith("_total"):
            found[sample.labels["result"]] += int(sample.value)
    return found


def test_f8b_a_request_with_a_time_limit_never_waits_for_a_rate_limit(
    client: RepoClient, sim: Simulator, simulated_time: SimulatedTime
) -> None:
    sim.faults.add(ISSUE, "secondary_limit", retry_after=1)
    with time_limit(2.0):
        for _ in range(2):
            with pytest.raises(RateLimited):
                client.issue(REPO, 1)
    assert simulated_time.slept == []
    assert client.issue(REPO, 1).number == 1


def test_f8b_what_nobody_waits_for_any_more_is_not_sent(client: RepoClient, sim: Simulator) -> None:
    client.issue(REPO, 1)
    before = sim.faults.requests
    with time_limit(2.0):
        late = with_context(client.issue)
    with pytest.raises(Unavailable, match="nobody waits for it any more"):
        late(REPO, 1)
    assert sim.faults.requests == before


def test_f8b_a_server_has_no_more_time_than_there_is(client: RepoClient, sim: Simulator) -> None:
    """It would hold its answer for a minute; without a time limit the client waits ten seconds, four times."""
    client.issue(REPO, 1)
    fault = sim.faults.add(ISSUE, "slow", times=None)
    with time_limit(0.1), pytest.raises(Unavailable, match="did not answer in time"):
        client.issue(REPO, 1)
    assert fault.hits <= 1
    sim.faults.clear()
    assert client.issue(REPO, 1).number == 1
