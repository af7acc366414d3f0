"""How an evaluation reaches this host's store, and how the dashboard starts one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from bot.app.wiring.clients import now
from bot.app.wiring.indexes import existing_store
from bot.domain.entities import RepoRef
from bot.domain.errors import Retryable
from bot.platform.settings import Settings
from bot.quality.evaluation.figures import Evaluation
from bot.quality.evaluation.history import erase_history
from bot.quality.evaluation.runs import EvaluationRuns
from bot.quality.feedback import UNDECIDED, Decided, decisions_on_pairs

SAMPLE = 1_500
"""Arrivals that the dashboard's evaluation asks about at most: enough for each figure that is shown. All issues arrive
all the same, which is most of the work (docs/research/accuracy.md)."""

_NICE = 10
# Exit codes of `bot.app.cli`, to which nothing here leads; the last two are SIGTERM.
_TO_MEND, _LATER, _TOLD_TO_END = 2, 3, (143, -15)


def evaluate_in_child_process(repo: RepoRef, environ: Mapping[str, str] | None = None) -> str:
    """Run `doppel evaluate` for a repository, which stores its result; return why there is none, or an empty text.

    The child has this process's environment unless another is given, and a low priority, since it takes a processor for
    minutes. Raises Retryable if a later try may succeed.
    """
    command = (sys.executable, "-m", "bot", "evaluate", str(repo), "--sample", str(SAMPLE), "--jobs", "1")
    nothing = subprocess.DEVNULL
    with subprocess.Popen(
        command, env=environ, stdin=nothing, stdout=nothing, stderr=subprocess.PIPE, text=True, errors="replace"
    ) as child:
        os.setpriority(os.PRIO_PROCESS, child.pid, _NICE)
        _, said = child.communicate()
    # What stands above may be a traceback, which can quote an issue.
    problem = said.strip().rpartition("\n")[2].removeprefix("doppel: ")
    if child.returncode in _TOLD_TO_END:
        raise Retryable("the process of the evaluation was told to end")
    if child.returncode == _LATER:
        raise Retryable(problem)
    if child.returncode == _TO_MEND:
        return problem
    return f"the process of the evaluation ended with code {child.returncode}" if child.returncode else ""


def keep_evaluation(settings: Settings, repo_id: int, result: Evaluation) -> None:
    """Store a result for the dashboard, if this host knows the repository with this id."""
    with existing_store(settings) as store:
        if store is not None and store.repositories.get(repo_id) is not None:
            EvaluationRuns(store.engine).keep(repo_id, result, now().timestamp())


def known_decisions(settings: Settings, repo_id: int) -> Decided:
    """What people decided about pairs of a repository's issues, as far as this host knows it."""
    with existing_store(settings) as store:
        return decisions_on_pairs(store, repo_id) if store else UNDECIDED


@contextmanager
def history_erased_if_ended(settings: Settings, repo: RepoRef) -> Iterator[None]:
    """Erase the history that is being read, which takes hours, if this host's access ends meanwhile (C6a).

    A history of a repository that this host never had belongs to whoever reads it, and stays.
    """
    with existing_store(settings) as store:
        known = store.repositories.by_name(repo) if store else None
        try:
            yield
        finally:
            if store is not None and known is not None and store.repositories.get(known.id) is None:
                erase_history(settings.home, known.id)
