"""Whatever happens while the issues are read, the index holds in the end what GitHub has, with vectors of one model."""

from __future__ import annotations

import random

import pytest

from bot.domain.errors import Retryable
from tests.index.conftest import HashingModel
from tests.indexing.conftest import REPO, Host

pytestmark = pytest.mark.slow

OTHER = "acme/other"


def work(host: Host, steps: int | None = None) -> None:
    """As the queue does it: an answer that GitHub's limits put off is no reason to leave the rest."""
    while True:
        try:
            host.work(steps)
            return
        except Retryable:
            if steps is not None:
                return


def something_happens(host: Host, chance: random.Random, serial: int) -> None:
    """To one of the issues that there are, or another is opened."""
    numbers = [issue.number for issue in host.sim.issues_of(host.sim.repo(REPO))]
    what = chance.choice(["delete", "transfer", "edit", "label", "close", "reopen", "open", "open"])
    if what == "open" or not numbers:
        host.sim.open_issue(REPO, "ann", f"New report {serial}", "It came meanwhile.")
        return
    number = chance.choice(numbers)
    if what == "delete":
        host.sim.delete_issue(REPO, number)
    elif what == "transfer":
        host.sim.transfer_issue(REPO, number, OTHER)
    elif what == "edit":
        host.sim.edit_issue(REPO, number, title=f"Edited {serial} about word{serial}z")
    elif what == "label":
        host.sim.add_labels(REPO, number, f"label-{serial}")
    elif host.sim.issue(REPO, number).state == "open":
        host.sim.close_issue(REPO, number)
    else:
        host.sim.reopen_issue(REPO, number)


def a_step_dies(host: Host, chance: random.Random, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before its issues are written, or before that is noted; the queue gives its work to somebody else."""

    def die(*_arguments: object, **_options: object) -> None:
        raise KeyboardInterrupt

    taken = host.queue.take()
    if taken is None:
        return
    host.queue.back(*taken)
    target, name = chance.choice([(host.services.index, "put"), (host.services.indexing, "_save_progress")])
    with monkeypatch.context() as patch:
        patch.setattr(target, name, die)
        try:
            work(host, 1)
        except KeyboardInterrupt:
            host.queue.back(*taken)


@pytest.mark.parametrize(
    ("store_url", "seed", "count"),
    [
        ("sqlite", 1, 0),
        pytest.param("postgres", 2, 2, marks=pytest.mark.postgres),
        pytest.param("postgres", 3, 130, marks=pytest.mark.postgres),
        ("sqlite", 4, 530),
    ],
    indirect=["store_url"],
)
def test_the_index_is_what_github_has(
    host: Host, seed: int, count: int, monkeypatch: pytest.MonkeyPatch, model: HashingModel
) -> None:
    chance = random.Random(seed)
    models = [None, model, HashingModel("other", dimensions=48)]
    host.load(count)
    host.sim.add_repository(OTHER)
    host.sim.install(OTHER)
    host.use(chance.choice(models))
    host.sim.install(REPO)
    for serial in range(40):
        kind = chance.random()
        if kind < 0.25:
            work(host, 1)
        elif kind < 0.35:
            a_step_dies(host, chance, monkeypatch)
        elif kind < 0.45:
            host.use(chance.choice(models))
        else:
            something_happens(host, chance, serial)
        host.sim.clock.advance(chance.choice([0, 1, 30]))
    host.use(model)
    for _ in range(2):
        host.sim.clock.advance(1_800)
        host.services.indexing.resync()
        work(host)
    there = {
        issue.number: (issue.title, issue.state, {label.name for label in issue.labels})
        for issue in host.sim.issues_of(host.sim.repo(REPO))
    }
    assert {n: (one.title, one.state, set(one.labels)) for n, one in host.indexed().items()} == there
    assert host.services.index.vector_count(host.repo_id) == host.services.index.count(host.repo_id) == len(there)
    progress = host.known_progress()
    assert (progress.done, progress.problem) == (True, "")
