"""What GitHub's runner gives to a step, read into one value, and whether its event is one to act upon.

https://docs.github.com/actions/reference/workflows-and-actions/variables
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from bot.conversation.marker import answered_by
from bot.deliveries.events import CommentEvent, Event, Ignored, IssueEvent
from bot.deliveries.payloads import parse
from bot.domain.entities import RepoRef
from bot.domain.errors import SettingsError
from bot.domain.formats import parse_time

UPKEEP, EVALUATE, SCAN = TASKS = ("upkeep", "evaluate", "scan")
"""What a workflow does without an event of an issue; the last two are asked for by hand."""

OLDEST = 86_400.0
"""Seconds after which an event is left alone: somebody has had the run of long ago repeated."""

# Of the rest of a job's environment nothing is read: its variables and files are another program's.
_OURS = ("GITHUB_TOKEN", "GITHUB_API_URL")


@dataclass(frozen=True, slots=True)
class Job:
    """One step of a workflow. `run` is the run's id, which a repetition keeps; `home` a folder for this job alone.

    `summary` and `output` are the files that the runner reads afterwards, None where there is no runner.
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
    def read(cls, environ: Mapping[str, str]) -> Job:
        """Raises SettingsError that names every variable that is missing, and InvalidArgument."""
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
        """What the cache holds between two runs."""
        return self.home / "state" / "doppel.db.gz"

    @property
    def task(self) -> str:
        """What is to be done where the event is of no issue."""
        asked = (self.payload.get("inputs") or {}).get("task") if self.event == "workflow_dispatch" else None
        return asked if asked in TASKS else UPKEEP

    @property
    def is_of_an_issue(self) -> bool:
        """Whether something happened to an issue, rather than that it is time or somebody asks."""
        return self.event not in ("schedule", "workflow_dispatch")

    def wanted(self, now: datetime) -> Event | Ignored:
        """The event, or why it needs no work. Raises MalformedPayload."""
        event = parse(self.event, self.payload)
        if isinstance(event, Ignored) or event.action in ("deleted", "transferred"):
            return event
        if isinstance(event, CommentEvent) and answered_by(event.body) is not None:
            # Written with a person's token, the bot's own words start workflows.
            return Ignored("what the bot itself wrote is not a command")
        if not isinstance(event, IssueEvent | CommentEvent):
            return Ignored("a workflow has no work with it")
        changed = (self.payload.get("comment") or self.payload["issue"]).get("updated_at")
        if changed and (now - (at := parse_time(changed))).total_seconds() > OLDEST:
            return Ignored(f"it happened on {at:%Y-%m-%d}, and what is more than a day old is left alone")
        return event
