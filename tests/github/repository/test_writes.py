"""What the bot changes, and that it changes nothing else."""

from __future__ import annotations

import pytest

from bot.domain.errors import Overtaken
from bot.github.repository import RepoClient
from bot.platform.lease import working_under_lease
from bot.simulator import Simulator
from tests.github.conftest import REPO


@pytest.fixture(autouse=True)
def issues(sim: Simulator) -> None:
    sim.open_issue("acme/app", "alice", "The first", "", labels=["bug"])
    sim.open_issue("acme/app", "bob", "The second", "")


@pytest.mark.parametrize("name", ["area: parser", "what/if?", "50%", "#1", "..", ".", "été", "installation"])
def test_any_label_can_be_taken_off(client: RepoClient, sim: Simulator, name: str) -> None:
    sim.create_label("acme/app", name)
    client.add_labels(REPO, 2, [name])
    assert client.issue(REPO, 2).labels == (name,)
    client.remove_label(REPO, 2, name)
    assert client.issue(REPO, 2).labels == ()


def test_a_write_finds_a_renamed_repository(client: RepoClient, sim: Simulator) -> None:
    comment = client.create_comment(REPO, 2, "before")
    sim.rename_repository("acme/app", "application")
    client.create_comment(REPO, 2, "after")
    client.update_comment(REPO, comment.id, "edited")
    client.add_labels(REPO, 2, ["duplicate"])
    client.remove_label(REPO, 2, "duplicate")
    client.close_as_duplicate(REPO, 2, client.issue(REPO, 1).id)
    assert [each.body for each in sim.comments("acme/application", 2)] == ["edited", "after"]
    assert sim.issue("acme/application", 2).state == "closed"


def test_nothing_is_written_for_work_that_is_anothers_by_now(client: RepoClient, sim: Simulator) -> None:
    """A machine that stood still goes on in the middle of a job: it may read, and must change nothing."""
    mine = True
    with working_under_lease(lambda: mine):
        comment = client.create_comment(REPO, 2, "Seen before: #1")
        mine = False
        with pytest.raises(Overtaken):
            client.update_comment(REPO, comment.id, "Seen before: #9")
        with pytest.raises(Overtaken):
            client.create_comment(REPO, 2, "Seen before: #9")
        assert client.issue(REPO, 2).number == 2
    assert [each.body for each in sim.comments("acme/app", 2)] == ["Seen before: #1"]
