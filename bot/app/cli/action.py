"""`doppel action`: what action.yml runs in a workflow (X)."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from datetime import datetime
from typing import TYPE_CHECKING

import click

from bot.app.action.runner import EVALUATE, SCAN, WorkflowJob
from bot.deliveries.events import Ignored
from bot.domain.errors import DoppelError

if TYPE_CHECKING:
    from bot.app.action.runner import RunSummary
    from bot.app.action.workflow import Workflow

# GitHub shows no more of a summary than a megabyte.
_LONGEST = 900_000
# The variables of a child process besides the job's settings.
_KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "PYTHONPATH", "SSL_CERT_FILE", "HTTPS_PROXY", "NO_PROXY")


@click.command()
def action() -> None:
    """Do in a workflow what the App does for its event; action.yml calls this.

    Everything comes from the variables that GitHub's runner sets; docs/guides/action.md has the workflow. An event of
    an issue or a comment is handled as the App would; `schedule` is the nightly upkeep; `workflow_dispatch` does that,
    or evaluates or scans, as its input `task` says.
    """
    # What runs from here on may print what strangers wrote; the runner obeys lines of a certain form.
    stop = secrets.token_hex(16)
    click.echo(f"::stop-commands::{stop}")
    try:
        job = WorkflowJob.read(os.environ)
        run, kept = _run(job)
    except DoppelError as failure:
        _annotate(stop, "error", str(failure))
        raise
    _tell(job, run, kept)
    for problem in run.problems:
        _annotate(stop, "error" if run.failed else "warning", problem)
    sys.exit(1 if run.failed else 0)


def _run(job: WorkflowJob) -> tuple[RunSummary, bool]:
    """The result of the job, and whether the state is to be saved."""
    event = job.wanted(datetime.now().astimezone()) if job.is_of_an_issue else None
    if isinstance(event, Ignored):
        from bot.app.action.runner import RunSummary
        from bot.conversation.render.escape import RepoLinks

        return RunSummary(RepoLinks(str(job.repo)), "", lines=[f"Nothing to do: {event.reason}."]), False
    # These take a second to import.
    from bot.app.action.workflow import workflow
    from bot.platform.logs import configure_logging

    with workflow(job) as running:
        configure_logging(running.settings.log_level)
        run = running.handle(event) if event is not None else _task(running)
        return run, running.keep()


def _task(running: Workflow) -> RunSummary:
    """The task of a schedule or of a manual start."""
    task, results = running.job.task, running.job.home / "results"
    results.mkdir(parents=True, exist_ok=True)
    if task == SCAN:
        # What takes longer than the hour's requests allow, the next run goes on with.
        if running.fill():
            _command(running, "scan", "--html", str(results / "scan.html"), "--markdown")
    elif task == EVALUATE:
        # Without a known duplicate there is nothing to draw, but something to tell.
        if not _command(running, "evaluate", "--picture", str(results / "evaluation.svg"), fenced=True, last=False):
            _command(running, "evaluate", fenced=True)
    else:
        return running.upkeep()
    return running.summary()


def _command(running: Workflow, name: str, *options: str, fenced: bool = False, last: bool = True) -> bool:
    """Run another command on the repository, and put its output into the summary; return whether it succeeded."""
    database = running.settings.database_url
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    environ = kept | dict(running.job.settings) | {"DATABASE_URL": database, "COLUMNS": "100"}
    command = (sys.executable, "-m", "bot", name, str(running.job.repo), *options)
    done = subprocess.run(command, env=environ, cwd=running.job.home, capture_output=True, text=True, check=False)
    if done.returncode and last:
        running.fail(done.stderr.strip().rpartition("\n")[2].removeprefix("doppel: "))
    elif not done.returncode:
        text = done.stdout[:_LONGEST]
        running.lines.append(f"````text\n{text}````" if fenced else text)
    return not done.returncode


def _tell(job: WorkflowJob, run: RunSummary, kept: bool) -> None:
    from bot.app.action.runner import markdown, outputs

    text = markdown(run)
    if job.summary is None:
        click.echo(text)
    else:
        with job.summary.open("a", encoding="utf-8") as file:
            file.write(text)
    if job.output is not None:
        with job.output.open("a", encoding="utf-8") as file:
            file.writelines(f"{name}={value}\n" for name, value in outputs(run).items())
            file.write(f"save={'true' if kept else 'false'}\n")


def _annotate(stop: str, level: str, text: str) -> None:
    """Have the runner show a line at the top of the run, the only command that it obeys."""
    line = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    click.echo(f"::{stop}::")
    click.echo(f"::{level} title=Doppel::{line}")
    click.echo(f"::stop-commands::{stop}")
