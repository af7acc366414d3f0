"""Reads what an evaluation needs, stores its result, and runs an evaluation for the dashboard."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import closing

from bot.app.wiring.clients import build_github, now, reader
from bot.app.wiring.indexes import existing_store
from bot.domain.entities import RepoRef
from bot.domain.errors import RateLimited, Retryable, Unavailable
from bot.platform.settings import Settings
from bot.quality.evaluation.figures import Evaluation
from bot.quality.evaluation.history import IssueRow, erase_history, read_history
from bot.quality.evaluation.runs import EvaluationRuns
from bot.quality.feedback import UNDECIDED, Decided, decisions_on_pairs

SAMPLE = 1_500
"""The dashboard's evaluation asks for duplicates of at most this many issues: enough for each figure on the page. Fewer
would save little, because all issues must be indexed, which takes longer than asking (docs/research/accuracy.md)."""

_NICE = 10
# Exit codes of `bot.app.cli`, which this module cannot import. Both codes in `_TERMINATED` mean SIGTERM.
_USAGE, _UNREACHABLE, _TERMINATED = 2, 3, (143, -15)


def evaluate_in_child_process(repo: RepoRef, environ: Mapping[str, str] | None = None) -> str:
    """Run `doppel evaluate`, which stores its result. Returns a problem's text, empty on success. Raises Retryable."""
    command = (sys.executable, "-m", "bot", "evaluate", str(repo), "--sample", str(SAMPLE), "--jobs", "1")
    devnull = subprocess.DEVNULL
    with subprocess.Popen(
        command, env=environ, stdin=devnull, stdout=devnull, stderr=subprocess.PIPE, text=True, errors="replace"
    ) as child:
        os.setpriority(os.PRIO_PROCESS, child.pid, _NICE)
        _, errors = child.communicate()
    # Take only the last line: the lines above may be a traceback, which can quote an issue.
    problem = errors.strip().rpartition("\n")[2].removeprefix("doppel: ")
    if child.returncode in _TERMINATED:
        raise Retryable("the process of the evaluation was told to end")
    if child.returncode == _UNREACHABLE:
        raise Retryable(problem)
    if child.returncode == _USAGE:
        return problem
    return f"the process of the evaluation ended with code {child.returncode}" if child.returncode else ""


def store_evaluation(settings: Settings, repo_id: int, result: Evaluation) -> None:
    """Store a result for the dashboard, if this host knows the repository with this id."""
    with existing_store(settings) as store:
        if store is not None and store.repositories.get(repo_id) is not None:
            EvaluationRuns(store.engine).put(repo_id, result, now().timestamp())


def known_decisions(settings: Settings, repo_id: int) -> Decided:
    """People's decisions about pairs of a repository's issues, if this host stores any."""
    with existing_store(settings) as store:
        return decisions_on_pairs(store, repo_id) if store else UNDECIDED


def repository_history(
    settings: Settings, repo: RepoRef, tell: Callable[..., object], *, fresh: bool
) -> tuple[int, list[tuple[IssueRow, str]]]:
    """Read a repository's history for the command line (`read_history`). Each row gets its issue as `OWNER/NAME#7`.

    Reading can take hours. If this host loses access meanwhile, the store forgets the repository, and the history is
    erased (C6a). If the store did not know the repository, the history stays: the person who runs the command owns it.
    """
    with existing_store(settings) as store, closing(build_github(settings)) as github:
        known = store.repositories.by_name(repo) if store else None
        try:
            repo_id, rows = read_history(reader(settings, github, repo), repo, settings.home, tell, fresh=fresh)
            return repo_id, [(row, f"{repo}#{row['id']}") for row in rows]
        except (RateLimited, Unavailable) as problem:
            wait = f" in {problem.after / 60:.0f} minutes" if problem.after and problem.after > 60 else ""
            text = f"{problem}. What was read is kept: run it again{wait} to go on"
            raise type(problem)(text, problem.after) from None
        finally:
            if store is not None and known is not None and store.repositories.get(known.id) is None:
                erase_history(settings.home, known.id)
