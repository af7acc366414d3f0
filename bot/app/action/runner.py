"""Reads the environment that GitHub's runner gives to a step, and formats the job's summary and the step's outputs.

Strangers write the issues' titles: the summary escapes them, and the outputs contain none.
The variables: https://docs.github.com/actions/reference/workflows-and-actions/variables
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from bot.conversation.marker import answered_comment_id
from bot.conversation.render.escape import escape
from bot.deliveries.events import CommentEvent, Event, Ignored, IssueEvent
from bot.deliveries.payloads import parse
from bot.domain.decisions import Decision, DecisionOutcome
from bot.domain.entities import RepoRef
from bot.domain.errors import SettingsError
from bot.domain.formats import parse_time
from bot.domain.likelihood import likelihood
from bot.domain.report import Evidence
from bot.storage.repositories import Progress

UPKEEP, EVALUATE, SCAN = "upkeep", "evaluate", "scan"
TASKS = (UPKEEP, EVALUATE, SCAN)
"""The tasks of runs that no issue event started. The last two run only if a person starts them by hand."""

OLDEST = 86_400.0
"""Seconds. Older events come from repeated old runs, and are ignored. Deletions and transfers are never too old."""

# Besides DOPPEL_*, only these variables of the job's environment become settings.
_SETTINGS = ("GITHUB_TOKEN", "GITHUB_API_URL")


@dataclass(frozen=True, slots=True)
class WorkflowJob:
    """A workflow's job, as the runner describes it to the bot's step. `home` is a folder for this job only.

    `event` is the event's name. `run` is the run's id, which a repeated run keeps. The runner reads the files `summary`
    and `output` after the step. `settings` are the environment variables with the host's settings.
    """

    event: str
    payload: Mapping[str, Any]
    repo: RepoRef
    run: str
    home: Path
    summary: Path
    output: Path
    settings: Mapping[str, str]

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> WorkflowJob:
        """Read the environment. Raises SettingsError or InvalidArgument, naming what is missing or wrong."""
        files = ("GITHUB_EVENT_PATH", "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")
        needed = ("GITHUB_EVENT_NAME", "GITHUB_REPOSITORY", "GITHUB_TOKEN", "RUNNER_TEMP", *files)
        if missing := [name for name in needed if not environ.get(name)]:
            raise SettingsError(
                f"{', '.join(missing)}: not set. `doppel action` is what action.yml runs in a workflow."
            )
        event_file, summary, output = (Path(environ[name]) for name in files)
        home = Path(environ["RUNNER_TEMP"]) / "doppel"
        try:
            payload = json.loads(event_file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as problem:
            raise SettingsError(f"GITHUB_EVENT_PATH: {event_file} cannot be read ({type(problem).__name__}).") from None
        settings = {name: text for name, text in environ.items() if name in _SETTINGS or name.startswith("DOPPEL_")}
        return cls(
            event=environ["GITHUB_EVENT_NAME"],
            payload=payload if isinstance(payload, Mapping) else {},
            repo=RepoRef.parse(environ["GITHUB_REPOSITORY"]),
            run=environ.get("GITHUB_RUN_ID", ""),
            home=home,
            summary=summary,
            output=output,
            settings={**settings, "DOPPEL_HOME": str(home)},
        )

    @property
    def state(self) -> Path:
        """The database, whose folder the cache keeps between runs."""
        return self.home / "state" / "doppel.db"

    @property
    def task(self) -> str:
        """The task of a run that no issue event started."""
        asked = (self.payload.get("inputs") or {}).get("task") if self.event == "workflow_dispatch" else None
        return asked if asked in TASKS else UPKEEP

    @property
    def is_issue_event(self) -> bool:
        """Whether the run handles an event, not a task. If the event has no issue, `event_to_handle` ignores it."""
        return self.event not in ("schedule", "workflow_dispatch")

    def event_to_handle(self, now: datetime) -> Event | Ignored:
        """The event, or the reason to ignore it. Raises MalformedPayload."""
        event = parse(self.event, self.payload)
        # Handle deletions and transfers however old they are, and even if the deleted comment is the bot's own.
        if isinstance(event, Ignored) or event.action in ("deleted", "transferred"):
            return event
        if isinstance(event, CommentEvent) and answered_comment_id(event.body) is not None:
            # If the bot writes with a person's token, its own comments start workflows.
            return Ignored("what the bot itself wrote is not a command")
        if not isinstance(event, IssueEvent | CommentEvent):
            return Ignored("the event is about neither an issue nor a comment")
        updated = (self.payload.get("comment") or self.payload["issue"]).get("updated_at")
        at = parse_time(updated) if updated else now
        if (now - at).total_seconds() > OLDEST:
            return Ignored(f"it happened on {at:%Y-%m-%d}, and what is more than a day old is left alone")
        return event


NONE, FAILED = "none", "failed"  # outcomes of runs without a decision, and of failed runs

_OUTCOME_SENTENCES = {
    DecisionOutcome.POSTED: "It has a comment now",
    DecisionOutcome.EDITED: "Its comment says something else now",
    DecisionOutcome.UNCHANGED: "Its comment stays as it is",
    DecisionOutcome.SHADOW: "`mode: shadow`: it would have got a comment",
    DecisionOutcome.SILENT: "No comment",
    DecisionOutcome.LEFT_ALONE: "It was left alone",
}


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The result of a run. `pages` is the address of GitHub's web pages, `progress` the index's progress.

    `number` is the issue's number or 0, `decision` the decision about this issue, `titles` the candidates' titles by
    number. `lines` are further paragraphs in Markdown. `problems`, in plain text, are for a maintainer to fix.
    """

    repo: RepoRef
    pages: str
    number: int = 0
    decision: Decision | None = None
    comment_id: int | None = None
    titles: Mapping[int, str] = field(default_factory=dict)
    progress: Progress | None = None
    lines: Sequence[str] = ()
    problems: Sequence[str] = ()
    failed: bool = False

    @property
    def outcome(self) -> str:
        if self.failed:
            return FAILED
        return self.decision.outcome.value if self.decision else NONE

    @property
    def comment_url(self) -> str:
        """The comment's address, empty if there is none."""
        if self.comment_id is None:
            return ""
        return f"{self.pages}/{self.repo}/issues/{self.number}#issuecomment-{self.comment_id}"

    @property
    def named(self) -> tuple[Evidence, ...]:
        """The candidates that the comment names, or would name."""
        return tuple(candidate for candidate in self.decision.evidence if candidate.shown) if self.decision else ()

    def url(self, candidate: Evidence) -> str:
        kind = {"pull request": "pull", "discussion": "discussions"}.get(candidate.kind, "issues")
        return f"{self.pages}/{candidate.repo or self.repo}/{kind}/{candidate.number}"


def outputs(run: RunSummary) -> dict[str, str]:
    """The step's outputs by name, each a single line."""
    named = [{"number": one.number, "url": run.url(one), "confidence": round(one.probability, 3)} for one in run.named]
    return {"outcome": run.outcome, "candidates": json.dumps(named), "comment-url": run.comment_url}


def markdown(run: RunSummary) -> str:
    blocks = ["### Doppel", *(f"> [!WARNING]\n> {escape(problem, 1_000)}" for problem in run.problems)]
    if run.number:
        blocks.append(_about_issue(run))
    blocks += [_table(run)] if run.named else []
    blocks += run.lines
    if run.progress is not None:
        blocks.append(_index_progress(run.progress))
    return "\n\n".join(blocks) + "\n"


def write_report(job: WorkflowJob, run: RunSummary, must_save: bool) -> None:
    """Write the job's summary and the step's outputs; `must_save` tells action.yml to save the state in the cache."""
    with job.summary.open("a", encoding="utf-8") as file:
        file.write(markdown(run))
    values = outputs(run) | {"save": "true" if must_save else "false"}
    with job.output.open("a", encoding="utf-8") as file:
        file.writelines(f"{name}={value}\n" for name, value in values.items())


def _about_issue(run: RunSummary) -> str:
    issue = f"[#{run.number}]({run.pages}/{run.repo}/issues/{run.number})"
    if run.decision is None:
        return f"{issue}: nothing was looked for."
    sentence, why = _OUTCOME_SENTENCES[run.decision.outcome], escape(run.decision.reason)
    linked = f"[{sentence}]({run.comment_url})" if run.comment_url else sentence
    return f"{issue}: {linked}{f': {why}' if why else ''}. The threshold is {run.decision.threshold:.0%}."


def _table(run: RunSummary) -> str:
    rows = ["| candidate | how likely it is the same |", "|---|---|"]
    for one in run.named:
        name = f"{escape(one.repo)}#{one.number}"
        title = escape(run.titles.get(one.number, "")) if one.own else ""  # `own`: an issue of this repository
        chance = f"{likelihood(one.probability).value} ({one.probability:.0%})"
        rows.append(f"| [{name}]({run.url(one)}) {title} | {chance} |")
    return "\n".join(rows)


def _index_progress(progress: Progress) -> str:
    if progress.done:
        return f"The index is complete: {progress.seen:,} issues."
    expected = "" if progress.expected is None else f" of about {progress.expected:,}"
    why = f" ({escape(progress.problem)})" if progress.problem else ""
    return (
        f"The index holds {progress.seen:,} issues{expected}{why}; the next run goes on reading. "
        "Until the index is complete, the bot uses GitHub's searches, which find less."
    )
