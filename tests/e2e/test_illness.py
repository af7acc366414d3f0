"""A bot that is ill in a repository says so: on `/readyz?deep`, in the metrics, on the dashboard, in the digest."""

from __future__ import annotations

import pytest

from bot.quality.illness import Illness, illnesses
from bot.web import create_app
from handlers.scheduled.repository_tasks import update_digests
from tests.e2e.harness import BOT, Doppel
from tests.e2e.late import held_back
from tests.e2e.reports import OTHER


def illness(doppel: Doppel) -> Illness | None:
    """What is wrong in this test's repository; those of other tests lie in the same world."""
    return illnesses(doppel.services.store, doppel.world.queue, doppel.services.now()).get(doppel.repository.id)


def digests(doppel: Doppel) -> list[str]:
    """The issue with the digest, brought up to date."""
    doppel.turn(update_digests)
    doppel.settle()
    return [one.body or "" for one in doppel.sim.issues_of(doppel.repository) if one.author.login == BOT]


def test_c7_issues_that_arrive_without_a_delivery_are_noticed_within_the_hour(pair: Doppel) -> None:
    pair.configure("digest: issue\n")
    assert illness(pair) is None
    pair.sim.clock.advance(5)
    with held_back(pair) as deliver:
        pair.sim.open_issue(pair.repo, "ann", *OTHER)
        pair.sim.clock.advance(3500)
        pair.resync()
        pair.settle()
        assert illness(pair) is None
        pair.sim.clock.advance(200)
        assert illness(pair) is Illness.LATE
        (body,) = digests(pair)
        assert "has not looked at the newest issue" in body
        deliver()
    assert illness(pair) is None
    (body,) = digests(pair)
    assert "not well" not in body


def test_c7_a_comment_that_github_refuses_is_told_to_who_asks(pair: Doppel) -> None:
    client = create_app(pair.world.settings).test_client()
    before = client.get("/readyz?deep").json["repositories"]["refused"]  # type: ignore[index]
    pair.sim.faults.add("POST */comments", 403)
    pair.open("Exporting to PDF crashes again", "I see `PdfRenderError: page 7` when exporting.", "cid")
    assert illness(pair) is Illness.REFUSED
    deep = client.get("/readyz?deep")
    assert deep.status_code == 503 and client.get("/readyz").status_code == 200
    assert deep.json is not None and deep.json["status"] == "ill"
    assert deep.json["repositories"]["refused"] == before + 1
    assert f'doppel_repositories_ill{{why="refused"}} {before + 1:.1f}' in client.get("/metrics").text
    pair.configure("mode: off\n")
    pair.open(*OTHER)
    assert illness(pair) is None


def test_c7_a_delivery_that_was_given_up_is_told_until_a_later_one_is_not(
    pair: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.deliveries.queue.MOST_TRIES", 1)
    fault = pair.sim.faults.add("GET */issues/3", 502, times=None)
    pair.do.open_issue(pair.repo, "ann", *OTHER)
    assert illness(pair) is Illness.GIVEN_UP
    pair.sim.faults.clear()
    assert fault.hits
    pair.open("Printing takes minutes", "The print dialog hangs.")
    assert illness(pair) is None
    for letter in pair.world.dead_letters.list():
        pair.world.dead_letters.retry(letter.delivery_id)
