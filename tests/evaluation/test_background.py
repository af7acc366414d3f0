"""An evaluation that was asked for on the dashboard: the command in a process of its own, failures by name."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from bot.app.wiring.evaluations import evaluate_in_child_process
from bot.deliveries.events import EvaluationEvent
from bot.domain.entities import RepoRef
from bot.domain.errors import RateLimited, Retryable
from bot.quality.evaluation.figures import evaluate
from bot.quality.evaluation.history import HistoryFile, repositories_with_history
from bot.quality.evaluation.runs import EvaluationRuns, Stage, StoredEvaluation
from tests.evaluation.made_up import rows
from tests.indexing.conftest import REPO, Host, host

__all__ = ["host"]

FOUND = evaluate([], issues=1, arrived=[datetime(2024, 1, 1, tzinfo=UTC)], min_confidence=0.2)


@pytest.fixture
def store_url(new_store: Callable[[str], str]) -> str:
    """One kind of database will do: what is kept is tested on both in test_runs.py."""
    return new_store("sqlite")


@pytest.fixture
def installed(host: Host) -> Host:
    host.install_quietly()
    return host


def use(host: Host, evaluating: Callable[[RepoRef], str]) -> None:
    """Do this instead of a process."""
    host.services = dataclasses.replace(host.services, evaluate=evaluating)


def ask(host: Host) -> None:
    known, now = host.services.store.repositories.get(host.repo_id), host.services.now()
    assert known is not None and EvaluationRuns(host.services.store.engine).begin(host.repo_id, f"{now}", now)
    event = EvaluationEvent(known.installation, known.summary, f"{now}")
    host.queue.put(event.delivery_id, event)


def kept(host: Host) -> StoredEvaluation:
    return EvaluationRuns(host.services.store.engine).get(host.repo_id)


def ended(host: Host) -> tuple[Stage, str]:
    run = kept(host).run
    return run.stage, run.problem


@pytest.mark.processes
@pytest.mark.slow
def test_the_command_is_run_without_a_secret_among_its_arguments_and_keeps_its_result(
    installed: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, commands = installed.services.settings, []

    class Seen(subprocess.Popen[str]):
        def __init__(self, command: Any, **options: Any) -> None:
            commands.append(command)
            super().__init__(command, **options)

    monkeypatch.setattr(subprocess, "Popen", Seen)
    environ = {
        "APP_ID": str(settings.app_id),
        "PRIVATE_KEY": settings.private_key,
        "GITHUB_API_URL": settings.github_api_url,
        "DATABASE_URL": settings.database_url,
        "DOPPEL_HOME": str(settings.home),
    }
    installed.sim.load_issues(rows(16), REPO)
    use(installed, lambda repo: evaluate_in_child_process(repo, environ))
    ask(installed)
    installed.work()
    assert ended(installed) == (Stage.DONE, "")
    result = kept(installed).result
    assert result is not None and result.retrieval.queries == 1
    ((executable, *arguments),) = commands
    assert executable == sys.executable
    assert arguments == ["-m", "bot", "evaluate", REPO, "--sample", "1500", "--jobs", "1"]


@pytest.mark.parametrize(
    ("ends", "problem"),
    [
        ("exit 0", ""),
        ("echo 'doppel: acme/app: there is no issue in it' >&2; exit 2", "acme/app: there is no issue in it"),
        ("echo 'ValueError: The map stays grey' >&2; exit 70", "the process of the evaluation ended with code 70"),
        ("kill -KILL $$", "the process of the evaluation ended with code -9"),
    ],
)
def test_how_the_process_ends_is_told_without_a_text_of_an_issue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: str, problem: str
) -> None:
    monkeypatch.setattr(sys, "executable", script(tmp_path, ends))
    assert evaluate_in_child_process(RepoRef.parse(REPO)) == problem


@pytest.mark.parametrize(
    ("ends", "told"), [("echo 'doppel: GitHub is away' >&2; exit 3", "GitHub is away"), ("kill $$", "told to end")]
)
def test_what_may_succeed_later_is_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: str, told: str
) -> None:
    """Where a host is stopped, all its processes are told to end, and this one may be the first that does."""
    monkeypatch.setattr(sys, "executable", script(tmp_path, ends))
    with pytest.raises(Retryable, match=told):
        evaluate_in_child_process(RepoRef.parse(REPO))


def script(folder: Path, ends: str) -> str:
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{ends}\n")
    path.chmod(0o700)
    return str(path)


def test_a_problem_is_kept_beside_the_result_before(installed: Host) -> None:
    EvaluationRuns(installed.services.store.engine).put(installed.repo_id, FOUND, 1.0)
    home = installed.services.settings.home
    use(installed, lambda _: f"{home}/history: there is no issue in it")
    ask(installed)
    installed.work()
    told = "DOPPEL_HOME/history: there is no issue in it"
    assert ended(installed) == (Stage.FAILED, told), "where the host keeps its files is not told"
    assert kept(installed).result == FOUND


@pytest.mark.parametrize(
    ("failure", "stage", "told"),
    [
        (RateLimited("GitHub's limit is used up"), Stage.RUNNING, "GitHub's limit is used up"),
        (ValueError("The map stays grey"), Stage.FAILED, "a fault of Doppel's own; the worker's log says more"),
    ],
)
def test_a_limit_is_waited_for_and_said_and_a_fault_is_told_without_a_text(
    installed: Host, failure: Exception, stage: Stage, told: str
) -> None:
    use(installed, mock.Mock(side_effect=failure))
    ask(installed)
    with pytest.raises(type(failure)):
        installed.work()
    assert ended(installed) == (stage, told)


def test_who_asks_anew_is_answered_and_not_who_asked_before(installed: Host) -> None:
    asked: list[RepoRef] = []
    use(installed, lambda repo: str(asked.append(repo) or ""))
    ask(installed)
    installed.sim.clock.advance(86_400)
    ask(installed)
    installed.work()
    assert (len(asked), ended(installed)) == (1, (Stage.DONE, ""))


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_c6a_of_a_repository_whose_access_ends_meanwhile_nothing_stays(installed: Host, database: str) -> None:
    """With a database that several machines share, access may also end when another machine is told of it."""
    home = installed.services.settings.home
    if database == "postgresql":
        settings = installed.services.settings.model_copy(update={"database_url": "postgresql://host/name"})
        installed.services = dataclasses.replace(installed.services, settings=settings)

    def leaves(repo: RepoRef) -> str:
        HistoryFile(home, installed.repo_id, repo)
        if database == "sqlite":
            installed.services.store.forget(installed.repo_id)
        return ""

    use(installed, leaves)
    ask(installed)
    installed.work()
    assert repositories_with_history(home) == {}
    assert kept(installed).run.stage is (Stage.NONE if database == "sqlite" else Stage.DONE)
