"""What the App may ask and do for itself: the doctor, the demo and the erasing of lost repositories rely on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from bot.domain.entities import RepoRef
from bot.domain.errors import NotFound
from bot.github.client import GitHub
from bot.simulator import Simulator
from bot.simulator.http.context import Context
from bot.simulator.http.reply import Reply
from tests.github.conftest import REPO


def test_where_we_are_installed(github: GitHub, sim: Simulator) -> None:
    sim.add_repository("globex/site", private=True)
    sim.add_repository("globex/other")
    second = sim.install("globex/site")
    app = github.app()
    assert app.installation_of(RepoRef("globex", "site")) == second.id
    with pytest.raises(NotFound):
        app.installation_of(RepoRef("globex", "other"))
    sim.suspend("globex")
    assert [(each.account, each.suspended) for each in app.installations()] == [("acme", False), ("globex", True)]
    sim.suspend("globex", False)
    (repository,) = app.repositories(second.id)
    assert (repository.ref, repository.private) == (RepoRef("globex", "site"), True)


def test_where_a_repository_is_now(github: GitHub, sim: Simulator) -> None:
    app, key = github.app(), sim.repository("acme/app").id
    sim.rename_repository("acme/app", "renamed")
    installation, found = app.repository(REPO, key)
    assert (installation, found.ref) == (app.installation_of(REPO), RepoRef("acme", "renamed"))
    assert not app.installation(installation).suspended
    sim.add_repository("acme/app")
    sim.install("acme/app")
    with pytest.raises(NotFound, match="the name belongs to another repository now"):
        app.repository(REPO, key)
    sim.remove_from_installation("acme/renamed")
    with pytest.raises(NotFound):
        app.repository(RepoRef("acme", "renamed"), key)
    sim.uninstall("acme")
    with pytest.raises(NotFound):
        app.installation(installation)


def test_a_page_from_which_a_repository_was_taken_is_not_the_last_one(
    github: GitHub, sim: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As GitHub takes off its pages what is not to be seen, after it has cut a list into them."""
    for number in range(130):
        sim.add_repository(f"initech/r{number}", labels=False)
    everything, whole = sim.install("initech"), Context.page

    def page(self: Context, items: Sequence[Any], show: Callable[[Any], Any]) -> Reply:
        reply = whole(self, items, show)
        return replace(reply, body=[one for one in reply.body if one["full_name"] != "initech/r7"])

    monkeypatch.setattr(Context, "page", page)
    assert len({repository.id for repository in github.app().repositories(everything.id)}) == 129


def test_deliveries_page_by_page_and_once_more(github: GitHub, sim: Simulator) -> None:
    statuses = iter([500] + [202] * 1000)
    sim.webhooks.post = lambda url, body, headers: (next(statuses), {}, "")
    sim.app.hook.url = "https://doppel.example/webhook"
    for number in range(120):
        sim.open_issue("acme/app", "alice", f"Issue {number}", "")
    sim.webhooks.join()
    app = github.app()
    listed = list(app.deliveries())
    assert len(listed) >= 120
    assert len({each.id for each in listed}) == len(listed)
    assert len(list(app.deliveries(most=7))) == 7
    (failed,) = (each for each in listed if not each.taken)
    assert failed.status_code == 500
    app.redeliver(failed.id)
    sim.webhooks.join()
    newest = next(app.deliveries())
    assert (newest.guid, newest.redelivery, newest.status_code) == (failed.guid, True, 202)
    with pytest.raises(NotFound):
        app.redeliver(1)
