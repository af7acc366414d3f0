"""The index in the running bot: processes that are killed while they fill it, and answers meanwhile."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import Any

import pytest

from bot.app.demo import show
from bot.app.demo.show import running_bot, wait_for
from bot.conversation.comments import CommentSlot, CommentWriter
from bot.domain.entities import Comment, Issue, RepoRef
from bot.github.repository import RepoClient
from bot.search.index import Index, TextAnalyser
from bot.simulator import start_simulator
from bot.storage.engine import make_engine
from bot.storage.repositories import Backfills, Progress
from tests.e2e.harness import Doppel
from tests.e2e.hosting import WORKER, Host
from tests.waiting import LONGEST, wait_until

ISSUES = 1_600


@pytest.mark.processes
def test_a_filling_that_is_killed_ends_with_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show, "WORKER", WORKER)
    with start_simulator(webhook_secret="a-secret") as server, running_bot(server, tmp_path) as processes:
        repo_id = server.sim.add_repository("acme/app").id
        rows = [
            {
                "id": number,
                "author": "ann",
                "title": f"Report {number} about part{number}x",
                "body": f"It says error{number}y.",
                "created_at": f"2026-01-{1 + number // 1440:02}T{number // 60 % 24:02}:{number % 60:02}:00Z",
            }
            for number in range(1, ISSUES + 1)
        ]
        server.sim.load_issues(rows, "acme/app")
        wait_for(processes, "web", processes.takes_deliveries)
        server.sim.app.hook.url = processes.receiver
        server.sim.install("acme/app")
        # Once the work of the first delivery is done, the worker is up and the tables are there.
        installed = server.sim.webhooks.log[-1].guid
        wait_for(processes, "the worker", lambda: processes.done(installed))
        host = Host(server, processes)
        engine = make_engine(processes.settings.database_url)

        def progress() -> Progress:
            return Backfills(engine).get(repo_id) or Progress()

        host.wait("beginning", lambda: progress().seen > 0)
        number = server.sim.open_issue("acme/app", "bob", "Report 77 about part77x", "It says error77y.").number
        host.wait("answering meanwhile", lambda: bool(host.said(number)))
        assert not progress().done
        host.kill("worker")
        host.wait("reading everything", lambda: progress().done)
        # Nothing is taken for lost, so that this does not wait for another round.
        host.finish()
        with Index(engine, TextAnalyser()).view(repo_id) as view:
            assert set(view.issues(range(1, 2 * ISSUES))) == set(range(1, ISSUES + 2))
        engine.dispose()
        assert server.sim.unknown_requests == []


def test_a_repository_is_ready_soon_after_the_installation(doppel: Doppel) -> None:
    repo_id = doppel.repository.id
    assert doppel.services.indexing.ready(repo_id)
    first = doppel.open("Crash while exporting to PDF", "`Error: exporter broke`", author="ann")
    assert doppel.services.index.count(repo_id) == 1
    second = doppel.open("Crash while exporting to PDF!", "`Error: exporter broke`, again.")
    assert f"#{first.number}" in doppel.advice(second.number)
    doppel.do.delete_issue(doppel.repo, first.number)
    assert doppel.services.index.count(repo_id) == 1


def test_what_is_reported_twice_in_a_second_is_in_the_index_for_the_second_one(
    doppel: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "Exporting raises `PdfRenderError: page 7 of invoiceSheet`."
    doppel.read_before("Crash while exporting to PDF", said)
    create, begun, others = RepoClient.create_comment, Event(), Event()

    def create_late(client: RepoClient, repo: RepoRef, number: int, body: str) -> Comment:
        """The answer to the second one takes its time."""
        if number == 2:
            begun.set()
            assert others.wait(LONGEST)
        return create(client, repo, number, body)

    monkeypatch.setattr(RepoClient, "create_comment", create_late)
    doppel.sim.clock.advance(7)
    doppel.sim.open_issue(doppel.repo, "ben", "Export to PDF broken since today", said)
    assert begun.wait(LONGEST)
    doppel.sim.open_issue(doppel.repo, "cleo", "PDF export crashes", f"{said} Each time.")
    wait_until(lambda: doppel.said(3))
    others.set()
    doppel.settle()
    doppel.said(2)
    (comment,) = doppel.said(3)
    assert "- `#2` – found by: the full-text index, the semantic index" in comment


def test_c2_who_was_looked_at_before_an_earlier_report_came_in_is_told_of_it_later(
    doppel: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    doppel.configure("sources: {github-hybrid: off}")
    said = "Exporting raises `PdfRenderError: page 7 of invoiceSheet`."
    read, begun, others = RepoClient.issue, Event(), Event()
    decided = doppel.services.store.decisions.of_issue

    def read_late(client: RepoClient, repo: RepoRef, number: int) -> Issue:
        """The bot hears little of the first one for a while, and the others overtake it."""
        if number == 1:
            begun.set()
            assert others.wait(LONGEST)
        return read(client, repo, number)

    monkeypatch.setattr(RepoClient, "issue", read_late)
    doppel.sim.open_issue(doppel.repo, "ann", "Crash while exporting to PDF", said)
    assert begun.wait(LONGEST)
    doppel.sim.open_issue(doppel.repo, "ben", "Export to PDF broken since today", said)
    doppel.sim.open_issue(doppel.repo, "cleo", "The logo is too small on the page of invoices", "It cannot be read.")
    wait_until(lambda: decided(doppel.repository.id, 2) and decided(doppel.repository.id, 3))
    others.set()
    doppel.settle()
    assert doppel.said(1) == doppel.said(3) == []
    (comment,) = doppel.said(2)
    assert "- `#1` – found by: the full-text index, the semantic index" in comment
    causes = [one.cause for one in decided(doppel.repository.id, 2)]
    assert causes == ["opened", "overtaken"]
    # The other one was asked about in the index alone.
    assert len(decided(doppel.repository.id, 3)) == 1


def test_c2_who_is_being_looked_at_when_an_earlier_report_comes_in_is_told_of_it_later(
    doppel: Doppel, monkeypatch: pytest.MonkeyPatch
) -> None:
    doppel.configure("sources: {github-hybrid: off}")
    said = "Exporting raises `PdfRenderError: page 7 of invoiceSheet`."
    read, write = RepoClient.issue, CommentWriter.write
    begun, searched, indexed = Event(), Event(), Event()

    def read_late(client: RepoClient, repo: RepoRef, number: int) -> Issue:
        if number == 1:
            begun.set()
            assert searched.wait(LONGEST)
        return read(client, repo, number)

    def write_late(writer: CommentWriter, github: RepoClient, slot: CommentSlot, *args: Any, **options: Any) -> bool:
        """The bot has found nothing for the second issue, and does not note that before it knows the first."""
        if slot.number == 2:
            searched.set()
            assert indexed.wait(LONGEST)
        else:
            indexed.set()
        return write(writer, github, slot, *args, **options)

    monkeypatch.setattr(RepoClient, "issue", read_late)
    monkeypatch.setattr(CommentWriter, "write", write_late)
    doppel.sim.open_issue(doppel.repo, "ann", "Crash while exporting to PDF", said)
    assert begun.wait(LONGEST)
    doppel.sim.open_issue(doppel.repo, "ben", "Export to PDF broken since today", said)
    doppel.settle()
    (comment,) = doppel.said(2)
    assert "- `#1` – found by: the full-text index, the semantic index" in comment
