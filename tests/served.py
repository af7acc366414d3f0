"""A simulated GitHub, and our client of it, as several test modules need them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bot.github.client import GitHub
from bot.github.repo import RepoClient
from bot.model import RepoRef
from bot.simulator import Server, start_simulator


@contextmanager
def served() -> Iterator[Server]:
    """The simulator; at its end nothing may have been asked that it does not know, or that GitHub would refuse."""
    with start_simulator() as running:
        yield running
        assert running.sim.unknown_requests == []
        assert running.sim.violations == []


@contextmanager
def reading(server: Server, repo: RepoRef) -> Iterator[RepoClient]:
    """The App's client for a repository, in the simulator's time."""
    clock = server.sim.clock
    github = GitHub(
        app_id=server.app_id,
        private_key=server.private_key_pem,
        api_url=server.url,
        patience=0,
        clock=clock.timestamp,
        monotonic=clock.timestamp,
        sleep=clock.advance,
    )
    try:
        yield github.installation(github.app().installation_of(repo))
    finally:
        github.close()
