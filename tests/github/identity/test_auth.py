"""Who the client says it is: signed by GitHub's clock, with tokens kept until shortly before they expire."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from bot.domain.entities import RepoRef
from bot.domain.errors import Forbidden, KeyRefused, NotFound, SettingsError, Unavailable
from bot.github.client import AppCredentials, GitHub, Tokens
from bot.github.repository import RepoClient
from bot.github.transport import ServerClock
from bot.simulator import Clock, Simulator, start_simulator
from bot.simulator.keys import new_pair
from tests.github.conftest import REPO, SimulatedTime


@pytest.fixture(autouse=True)
def issue(sim: Simulator) -> None:
    sim.open_issue("acme/app", "alice", "It crashes", "At start.")


def tokens_made(sim: Simulator) -> int:
    return len(sim.installation_tokens)


def test_a_token_is_used_until_shortly_before_it_expires(client: RepoClient, sim: Simulator) -> None:
    for _ in range(3):
        client.issue(REPO, 1)
    assert tokens_made(sim) == 1
    sim.clock.advance(3600 - 90)
    client.issue(REPO, 1)
    assert tokens_made(sim) == 1
    sim.clock.advance(40)
    client.issue(REPO, 1)
    assert tokens_made(sim) == 2


def test_a_token_that_was_revoked_is_replaced_once(client: RepoClient, sim: Simulator) -> None:
    client.issue(REPO, 1)
    sim.installation_tokens.clear()
    assert client.issue(REPO, 1).number == 1
    assert tokens_made(sim) == 1


def test_the_app_itself_signs_anew_when_its_token_is_over(github: GitHub, sim: Simulator) -> None:
    for _ in range(4):
        assert github.app().get_app().slug
        sim.clock.advance(300)


@pytest.mark.parametrize("wrong_by", [-86_400, -1_000, 1_000, 86_400])
def test_a_host_with_a_wrong_clock_works_all_the_same(
    connect: Callable[..., GitHub], simulated_time: SimulatedTime, sim: Simulator, wrong_by: float
) -> None:
    github = connect(clock=lambda: simulated_time.now() + wrong_by)
    client = github.installation(github.app().installation_of(REPO))
    for _ in range(3):
        assert client.issue(REPO, 1).number == 1
    skew = github.app().clock_skew()
    assert skew == pytest.approx(-wrong_by, abs=1.5)


def test_a_github_that_lives_in_another_year(connect: Callable[..., GitHub]) -> None:
    """githubkit reckons by the machine's clock how long a token lasts; ours is corrected."""
    with start_simulator(clock=Clock(datetime(2021, 3, 4, tzinfo=UTC))) as past:
        past.sim.add_repository("acme/app")
        past.sim.install("acme/app")
        past.sim.open_issue("acme/app", "alice", "Old", "")
        github = connect(
            api_url=past.url,
            app_id=past.app_id,
            private_key=past.private_key_pem,
            clock=lambda: datetime.now(UTC).timestamp(),
        )
        client = github.installation(github.app().installation_of(REPO))
        for _ in range(3):
            client.issue(REPO, 1)
        assert tokens_made(past.sim) == 1


def test_a_wrong_key_is_refused_with_githubs_words(connect: Callable[..., GitHub]) -> None:
    with pytest.raises(KeyRefused, match="what the App's private key signed: A JSON web token could not be decoded"):
        connect(private_key=new_pair().private).app().get_app()


def test_a_wrong_id_is_no_end_of_access(connect: Callable[..., GitHub]) -> None:
    github = connect(app_id=999_999)
    with pytest.raises(KeyRefused, match="no App of this id"):
        github.app().installation_of(REPO)
    with pytest.raises(KeyRefused, match="no App of this id"):
        github.installation(1).repository(REPO)


def test_access_that_has_ended_is_forbidden_not_something_missing(
    github: GitHub, client: RepoClient, sim: Simulator
) -> None:
    """A missing file means default settings; a missing installation must not look like one."""
    assert client.file(REPO, ".github/doppel.yml") is None
    sim.uninstall("acme")
    with pytest.raises(Forbidden, match="no access as this installation"):
        client.file(REPO, ".github/doppel.yml")
    with pytest.raises(NotFound):
        github.app().installation_of(REPO)


def test_a_narrowed_token_sees_no_other_private_repository(github: GitHub, sim: Simulator) -> None:
    sim.add_repository("acme/secret", private=True)
    sim.install("acme/secret")
    sim.open_issue("acme/secret", "alice", "The plan", "Nobody must know.")
    installation = github.app().installation_of(REPO)
    wide = github.installation(installation)
    narrow = github.installation(installation, repository_ids=[wide.repository(REPO).id])
    assert wide.issue(RepoRef("acme", "secret"), 1).title == "The plan"
    assert narrow.issue(REPO, 1).number == 1
    with pytest.raises((NotFound, Forbidden)):
        narrow.issue(RepoRef("acme", "secret"), 1)


def test_e1_an_enterprise_server_has_its_own_addresses(connect: Callable[..., GitHub]) -> None:
    with start_simulator(enterprise=True) as ghes:
        ghes.sim.add_repository("acme/app")
        ghes.sim.install(
            "acme/app", permissions={"issues": "write", "metadata": "read", "organization_projects": "read"}
        )
        ghes.sim.open_issue("acme/app", "alice", "It crashes", "")
        assert ghes.url.endswith("/api/v3")
        github = connect(api_url=ghes.url, app_id=ghes.app_id, private_key=ghes.private_key_pem)
        client = github.installation(github.app().installation_of(REPO))
        assert client.issue(REPO, 1).title == "It crashes"
        assert client.search("repo:acme/app is:issue crashes").total_count == 1
        assert dict(client.workflow_states(REPO, [1]).states) == {1: None}
        assert ghes.sim.unknown_requests == []


@pytest.mark.parametrize("slash", ["", "/"])
def test_e1_every_server_knows_the_version_that_it_is_asked_for(slash: str) -> None:
    assert GitHub(api_url="https://github.acme.example/api/v3" + slash).api_version == "2022-11-28"
    for newer in ("https://api.github.com", "https://api.acme.ghe.com"):
        assert GitHub(api_url=newer + slash).api_version == "2026-03-10"


@pytest.mark.parametrize("version", ["2022-11-28", "2026-03-10"])
def test_the_api_version_is_pinned_and_can_be_set(
    connect: Callable[..., GitHub], version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    github = connect(api_version=version)
    response = github.app()._api.rest.apps.get_authenticated()
    assert response.headers["x-github-api-version-selected"] == version
    assert response.raw_request.headers["user-agent"] == "doppel"


def test_without_id_or_key_the_variables_are_named(connect: Callable[..., GitHub]) -> None:
    with pytest.raises(SettingsError, match="APP_ID"):
        connect(app_id=None).app()
    with pytest.raises(SettingsError, match="PRIVATE_KEY"):
        connect(private_key="").installation(1)


def test_an_outage_while_fetching_a_token_is_survived(client: RepoClient, sim: Simulator) -> None:
    sim.faults.add("POST */access_tokens", 502, times=2)
    assert client.issue(REPO, 1).number == 1
    sim.installation_tokens.clear()
    sim.faults.add("POST */access_tokens", 502, times=None)
    with pytest.raises(Unavailable):
        client.issue(REPO, 1)


def test_credentials_show_no_key_when_printed() -> None:
    key, clock = new_pair().private, ServerClock(lambda: 0.0)
    credentials = AppCredentials(1, key, clock, Tokens(lambda: 0.0, clock))
    for shown in (repr(credentials), repr(GitHub(app_id=1, private_key=key))):
        assert "PRIVATE KEY" not in shown
