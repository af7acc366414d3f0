"""Rotating the App's private key, as docs/operations.md says: nothing fails before, between and after.

The webhook secret's rotation is in tests/test_web.py and tests/receiver/test_webhook.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bot.app.wiring.clients import build_github
from bot.domain.entities import RepoRef
from bot.domain.errors import Forbidden, KeyRefused, Retryable
from bot.platform.settings import Settings
from bot.simulator import Server, start_simulator

REPO = RepoRef("acme", "app")


@pytest.fixture
def server() -> Iterator[Server]:
    with start_simulator() as server:
        server.sim.add_repository(str(REPO))
        server.sim.install(str(REPO))
        yield server


def settings_of(server: Server, home: Path) -> Settings:
    """A process with the key that the App has now."""
    return Settings(
        home=home,
        database_url=f"sqlite:///{home / 'doppel.db'}",
        app_id=server.app_id,
        private_key=server.private_key_pem,
        github_api_url=server.url,
    )


def test_a_private_key_is_changed_without_a_gap(server: Server, tmp_path: Path) -> None:
    old = settings_of(server, tmp_path)

    def works(settings: Settings) -> bool:
        """A process that starts now, with what the ones before have stored."""
        with closing(build_github(settings)) as github:
            return github.installation(github.app().installation_of(REPO)).repository(REPO).ref == REPO

    assert works(old)
    new = old.model_copy(update={"private_key": server.sim.generate_key(server.sim.app)})
    # Workers of both kinds at once, while one after the other is started again.
    assert works(new)
    assert works(old)
    assert works(new)
    server.sim.delete_oldest_key(server.sim.app)
    assert works(new)
    with pytest.raises(KeyRefused):
        works(old)


def test_what_arrives_while_the_key_is_wrong_waits_for_the_right_one(server: Server, tmp_path: Path) -> None:
    """GitHub refuses a key that is another App's, or was deleted too soon. That is no end of access, at which work is
    dropped: the queue tries it again."""
    settings = settings_of(server, tmp_path)
    server.sim.generate_key(server.sim.app)
    server.sim.delete_oldest_key(server.sim.app)
    (installation,) = server.sim.installations
    with closing(build_github(settings)) as github, pytest.raises(KeyRefused):
        github.installation(installation).repository(REPO)
    with closing(build_github(settings)) as github, pytest.raises(KeyRefused):
        github.app().installation_of(REPO)
    assert issubclass(KeyRefused, Retryable)
    server.sim.suspend("acme")
    right = settings.model_copy(update={"private_key": server.sim.generate_key(server.sim.app)})
    with closing(build_github(right)) as github, pytest.raises(Forbidden):
        github.installation(installation).repository(REPO)
