"""What GitHub's runner gives to a step, and what a run tells: the job's summary, the outputs, and problems.

Titles are strangers' text: the summary escapes them, and no output holds any.
https://docs.github.com/actions/reference/workflows-and-actions/variables
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from bot.conversation.marker import answered_comment_id
from bot.conversation.render.escape import RepoLinks, escape
from bot.deliveries.events import CommentEvent, Event, Ignored, IssueEvent
from bot.deliveries.payloads import parse
from bot.domain.decisions import Decision, DecisionOutcome, Evidence
from bot.domain.entities import RepoRef
from bot.domain.errors import SettingsError
from bot.domain.formats import parse_time
from bot.domain.likelihood import likelihood
from bot.storage.repositories import Progress

UPKEEP, EVALUATE, SCAN = TASKS = ("upkeep", "evaluate", "scan")
"""What a workflow does without an event of an issue; the last two are asked for by hand."""

OLDEST = 86_400.0
"""Seconds after which an event is left alone: somebody has repeated an old run."""

# Nothing else of a job's environment is read.
_OURS = ("GITHUB_TOKEN", "GITHUB_API_URL")


@dataclass(frozen=True, slots=True)
class WorkflowJob:
    """One step of a workflow. `run` is the run's id, which a repetition keeps; `home` a folder for this job alone.

    `summary` and `output` are the files that the runner reads afterwards, None without a runner.
    """

    event: str
    payload: Mapping[str, Any]
    repo: RepoRef
    run: str
    home: Path
    summary: Path | None
    output: Path | None
    settings: Mapping[str, str]

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> WorkflowJob:
        """Read the environment. Raises SettingsError that names every missing variable, and InvalidArgument."""
        needed = ("GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH", "GITHUB_REPOSITORY", "GITHUB_TOKEN", "RUNNER_TEMP")
        if missing := [name for name in needed if not environ.get(name)]:
            raise SettingsError(
                f"{', '.join(missing)}: not set. `doppel action` is what action.yml runs in a workflow."
            )
        path, home = Path(environ["GITHUB_EVENT_PATH"]), Path(environ["RUNNER_TEMP"]) / "doppel"
        try:
            payload = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as problem:
            raise SettingsError(f"GITHUB_EVENT_PATH: {path} cannot be read ({type(problem).__name__}).") from None
        ours = {name: text for name, text in environ.items() if name in _OURS or name.startswith("DOPPEL_")}
        summary, output = (environ.get(name) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"))
        return cls(
            event=environ["GITHUB_EVENT_NAME"],
            payload=payload if isinstance(payload, Mapping) else {},
            repo=RepoRef.parse(environ["GITHUB_REPOSITORY"]),
            run=environ.get("GITHUB_RUN_ID", ""),
            home=home,
            summary=Path(summary) if summary else None,
            output=Path(output) if output else None,
            settings={**ours, "DOPPEL_HOME": str(home)},
        )

    @property
    def state(self) -> Path:
        """The file that the cache keeps between two runs."""
        return self.home / "state" / "doppel.db.gz"

    @property
    def task(self) -> str:
        """The task of a workflow without an event of an issue."""
        asked = (self.payload.get("inputs") or {}).get("task") if self.event == "workflow_dispatch" else None
        return asked if asked in TASKS else UPKEEP

    @property
    def is_of_an_issue(self) -> bool:
        """Whether something happened to an issue, rather than a schedule or a manual start."""
        return self.event not in ("schedule", "workflow_dispatch")

    def wanted(self, now: datetime) -> Event | Ignored:
        """The event, or why it needs no work. Raises MalformedPayload."""
        event = parse(self.event, self.payload)
        if isinstance(event, Ignored) or event.action in ("deleted", "transferred"):
            return event
        if isinstance(event, CommentEvent) and answered_comment_id(event.body) is not None:
            # Written with a person's token, the bot's own words start workflows.
            return Ignored("what the bot itself wrote is not a command")
        if not isinstance(event, IssueEvent | CommentEvent):
            return Ignored("a workflow has no work with it")
        changed = (self.payload.get("comment") or self.payload["issue"]).get("updated_at")
        if changed and (now - (at := parse_time(changed))).total_seconds() > OLDEST:
            return Ignored(f"it happened on {at:%Y-%m-%d}, and what is more than a day old is left alone")
        return event


NONE, FAILED = "none", "failed"
"""Outcomes of a run that has looked at no issue, and of one that could not do what it was to."""

_DID = {
    DecisionOutcome.POSTED: "It has a comment now",
    DecisionOutcome.EDITED: "Its comment says something else now",
    DecisionOutcome.UNCHANGED: "Its comment stays as it is",
    DecisionOutcome.SHADOW: "`mode: shadow`: it would have got a comment",
    DecisionOutcome.SILENT: "No comment",
    DecisionOutcome.LEFT_ALONE: "It was left alone",
}


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The result of a run.

    `number` is the issue that it was about, 0 for none, `decision` its decision, `titles` those of the candidates.
    `lines` are further sentences in Markdown, `problems` what somebody has to mend, as plain text.
    """

    place: RepoLinks
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
        return f"{self.pages}/{self.place.repo}/issues/{self.number}#issuecomment-{self.comment_id}"

    @property
    def named(self) -> tuple[Evidence, ...]:
        """What the comment names, or would name."""
        return tuple(one for one in self.decision.evidence if one.shown) if self.decision else ()

    def url(self, one: Evidence) -> str:
        """The page of a candidate."""
        kind = {"pull request": "pull", "discussion": "discussions"}.get(one.kind, "issues")
        return f"{self.pages}/{one.repo or self.place.repo}/{kind}/{one.number}"


def outputs(run: RunSummary) -> dict[str, str]:
    """The outputs by name, each one line."""
    named = [{"number": one.number, "url": run.url(one), "confidence": round(one.probability, 3)} for one in run.named]
    return {"outcome": run.outcome, "candidates": json.dumps(named), "comment-url": run.comment_url}


def markdown(run: RunSummary) -> str:
    blocks = ["### Doppel", *(f"> [!WARNING]\n> {escape(one, 1_000)}" for one in run.problems)]
    if run.number:
        blocks.append(_about_issue(run))
    blocks += [_table(run)] if run.named else []
    blocks += run.lines
    if run.progress is not None:
        blocks.append(_index(run.progress))
    return "\n\n".join(blocks) + "\n"


def _about_issue(run: RunSummary) -> str:
    issue = f"[#{run.number}]({run.pages}/{run.place.repo}/issues/{run.number})"
    if run.decision is None:
        return f"{issue}: nothing was looked for."
    did, why = _DID[run.decision.outcome], escape(run.decision.reason)
    linked = f"[{did}]({run.comment_url})" if run.comment_url else did
    return f"{issue}: {linked}{f': {why}' if why else ''}. The threshold is {run.decision.threshold:.0%}."


def _table(run: RunSummary) -> str:
    rows = ["| candidate | how likely it is the same |", "|---|---|"]
    for one in run.named:
        name = f"{escape(one.repo)}#{one.number}"
        title = escape(run.titles.get(one.number, "")) if one.own else ""
        rows.append(
            f"| [{name}]({run.url(one)}) {title} | {likelihood(one.probability).value} ({one.probability:.0%}) |"
        )
    return "\n".join(rows)


def _index(progress: Progress) -> str:
    if progress.done:
        return f"The index is complete: {progress.seen:,} issues."
    expected = "" if progress.expected is None else f" of about {progress.expected:,}"
    why = f" ({escape(progress.problem)})" if progress.problem else ""
    return (
        f"The index holds {progress.seen:,} issues{expected}{why}; the next run goes on reading. Until it is complete "
        "GitHub's searches answer, which find less."
    )
