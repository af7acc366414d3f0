"""`doppel action`: what action.yml runs in a workflow (X)."""

from __future__ import annotations

import os
import secrets
import sys
from datetime import datetime

import click

from bot.app.action.runner import RunSummary, WorkflowJob, write_report
from bot.deliveries.events import Ignored
from bot.domain.errors import DoppelError


@click.command()
def action() -> None:
    """Handle the event of a workflow as the App does; action.yml calls this.

    All input comes from the variables that GitHub's runner sets; docs/guides/action.md has the workflow. Events of
    issues and comments are handled as the App handles them. `schedule` runs the nightly upkeep. `workflow_dispatch`
    runs the task that its input `task` names: upkeep, evaluate or scan.
    """
    # The runner obeys printed lines such as `::error::…`, and strangers may have written the text printed below.
    # Let the runner ignore such lines until it reads `::TOKEN::`, with a token that nobody can guess.
    end_token = secrets.token_hex(16)
    click.echo(f"::stop-commands::{end_token}")
    try:
        job = WorkflowJob.read(os.environ)
        run, must_save = _run(job)
    except DoppelError as failure:
        _annotate(end_token, "error", str(failure))
        raise
    write_report(job, run, must_save)
    for problem in run.problems:
        _annotate(end_token, "error" if run.failed else "warning", problem)
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
        run = running.handle(event) if event is not None else running.run_task()
        return run, running.close()  # `close` says whether the state must be saved


def _annotate(end_token: str, level: str, text: str) -> None:
    """Show `text` at the top of the run. The runner obeys the line with `level`, then ignores commands again."""
    line = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    click.echo(f"::{end_token}::")
    click.echo(f"::{level} title=Doppel::{line}")
    click.echo(f"::stop-commands::{end_token}")
