"""The real client against the simulator, over real HTTP, with a clock that nobody has to wait for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from bot.domain.entities import RepoRef
from bot.github.client import GitHub
from bot.github.repository import RepoClient
from bot.simulator import Server, Simulator, start_simulator

REPO = RepoRef("acme", "app")


class SimulatedTime:
    """Sleeping moves the simulator's clock, which is the client's clock, too. `slept` lists every sleep in seconds."""

    def __init__(self, sim: Simulator) -> None:
        self._sim = sim
        self.slept: list[float] = []

    def now(self) -> float:
        return self._sim.clock.timestamp()

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._sim.clock.advance(seconds)


@pytest.fixture
def server() -> Iterator[Server]:
    """A simulator with `acme/app`, on which the App is installed."""
    with start_simulator() as running:
        running.sim.add_repository("acme/app")
        running.sim.install("acme/app")
        yield running
        assert running.sim.unknown_requests == []
        assert running.sim.violations == []


@pytest.fixture
def sim(server: Server) -> Simulator:
    return server.sim


@pytest.fixture
def repo_id(sim: Simulator) -> int:
    """The id of REPO."""
    return sim.repository(str(REPO)).id


@pytest.fixture
def simulated_time(sim: Simulator) -> SimulatedTime:
    return SimulatedTime(sim)


@pytest.fixture
def connect(server: Server, simulated_time: SimulatedTime) -> Iterator[Callable[..., GitHub]]:
    """Make a client of the simulator; arguments replace those that it is made with."""
    made: list[GitHub] = []

    def connect(**changes: Any) -> GitHub:
        options: dict[str, Any] = {
            "app_id": server.app_id,
            "private_key": server.private_key_pem,
            "api_url": server.url,
            "clock": simulated_time.now,
            "monotonic": simulated_time.now,
            "sleep": simulated_time.sleep,
            "jitter": lambda: 0.0,
        }
        github = GitHub(**{**options, **changes})
        made.append(github)
        return github

    yield connect
    for github in made:
        github.close()


@pytest.fixture
def github(connect: Callable[..., GitHub]) -> GitHub:
    return connect()


@pytest.fixture
def client(github: GitHub) -> RepoClient:
    """The installation on acme/app."""
    return github.installation(github.app().installation_of(REPO))
