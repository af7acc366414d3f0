"""`doppel action`: what action.yml runs in a workflow (X)."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from datetime import datetime
from typing import TYPE_CHECKING

import click

from bot.app.action.runner import EVALUATE, SCAN, RunSummary, WorkflowJob, markdown, outputs
from bot.deliveries.events import Ignored
from bot.domain.errors import DoppelError

if TYPE_CHECKING:
    from bot.app.action.workflow import Workflow

# GitHub shows at most a megabyte of a summary.
_MAX_OUTPUT = 900_000
# A child process gets these variables besides the job's settings.
_PASSED_ON = ("PATH", "HOME", "LANG", "TMPDIR", "PYTHONPATH", "SSL_CERT_FILE", "HTTPS_PROXY", "NO_PROXY")


@click.command()
def action() -> None:
    """Handle the event of a workflow as the App does; action.yml calls this.

    All input comes from the variables that GitHub's runner sets; docs/guides/action.md has the workflow. Events of
    issues and comments are handled as the App handles them. `schedule` runs the nightly upkeep. `workflow_dispatch`
    runs the task that its input `task` names: upkeep, evaluate or scan.
    """
    # The runner obeys printed lines such as `::error::…`, and strangers may have written the text printed below.
    stop = secrets.token_hex(16)
    click.echo(f"::stop-commands::{stop}")
    try:
        job = WorkflowJob.read(os.environ)
        run, saved = _run(job)
    except DoppelError as failure:
        _annotate(stop, "error", str(failure))
        raise
    _write_report(job, run, saved)
    for problem in run.problems:
        _annotate(stop, "error" if run.failed else "warning", problem)
    sys.exit(1 if run.failed else 0)


def _run(job: WorkflowJob) -> tuple[RunSummary, bool]:
    """Run the job; return its result, and whether the state must be saved."""
    event = job.event_to_handle(datetime.now().astimezone()) if job.is_issue_event else None
    if isinstance(event, Ignored):
        return RunSummary(job.repo, pages="", lines=[f"Nothing to do: {event.reason}."]), False
    from bot.app.action.workflow import workflow
    from bot.platform.logs import configure_logging

    with workflow(job) as running:
        configure_logging(running.services.settings.log_level)
        run = running.handle(event) if event is not None else _run_task(running)
        return run, running.close()


def _run_task(running: Workflow) -> RunSummary:
    task, results = running.job.task, running.job.home / "results"
    results.mkdir(parents=True, exist_ok=True)
    if task == SCAN:
        # If the hour's requests do not suffice to read all issues, the next run goes on.
        if running.fill():
            _run_command(running, "scan", "--html", str(results / "scan.html"), "--markdown")
    elif task == EVALUATE:
        _run_command(running, "evaluate", "--picture", str(results / "evaluation.svg"), fenced=True)
    else:
        return running.upkeep()
    return running.summary()


def _run_command(running: Workflow, name: str, *options: str, fenced: bool = False) -> None:
    """Run another command on the repository, and put its output into the summary."""
    database = running.services.settings.database_url
    passed_on = {variable: os.environ[variable] for variable in _PASSED_ON if variable in os.environ}
    environ = passed_on | dict(running.job.settings) | {"DATABASE_URL": database, "COLUMNS": "100"}
    command = (sys.executable, "-m", "bot", name, str(running.job.repo), *options)
    result = subprocess.run(command, env=environ, cwd=running.job.home, capture_output=True, text=True, check=False)
    if result.returncode:
        running.fail(result.stderr.strip().rpartition("\n")[2].removeprefix("doppel: "))
    else:
        text = result.stdout[:_MAX_OUTPUT]
        running.lines.append(f"````text\n{text}````" if fenced else text)


def _write_report(job: WorkflowJob, run: RunSummary, saved: bool) -> None:
    with job.summary.open("a", encoding="utf-8") as file:
        file.write(markdown(run))
    values = outputs(run) | {"save": "true" if saved else "false"}
    with job.output.open("a", encoding="utf-8") as file:
        file.writelines(f"{name}={value}\n" for name, value in values.items())


def _annotate(stop: str, level: str, text: str) -> None:
    """Show a line at the top of the run. For this one command, the runner obeys again."""
    line = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    click.echo(f"::{stop}::")
    click.echo(f"::{level} title=Doppel::{line}")
    click.echo(f"::stop-commands::{stop}")
