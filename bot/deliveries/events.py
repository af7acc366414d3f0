"""The events that have handlers, reduced to what a handler needs (C1), and their JSON for the queue.

No event carries an issue's text: handlers read the current state from GitHub, so that a late or repeated delivery does
no harm. The only texts are bodies of comments and a label's name. `installation` is None if the payload names no
installation; the worker then asks GitHub.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from bot.domain.entities import Actor, Repository

# Jobs of a partition run one at a time. Partitions of background work have these prefixes:
BACKGROUND = "index:"
REPLAY = f"{BACKGROUND}replay:"  # for work that takes hours


@dataclass(frozen=True, slots=True)
class IssueEvent:
    """`issues.*`. `partition` keeps an issue's jobs in order. `closed_at` is the closing's time."""

    action: str
    installation: int | None
    repository: Repository
    number: int
    sender: Actor
    author: Actor
    label: str = ""
    closed_at: str = ""

    name = "issues"

    @property
    def partition(self) -> str:
        return f"{self.repository.id}#{self.number}"


# Actions of `issues` that the bot queues for itself; GitHub never sends them.
# JUDGED: a command on another issue declared that the two issues differ, or took that back.
# OVERTAKEN: the bot checked this issue before indexing its likely original.
# INDEXED: the index was incomplete when the bot checked this issue, and is now complete.
# DEFERRED: the issue's author had opened too many issues within the hour.
JUDGED, OVERTAKEN, INDEXED, DEFERRED = "judged", "overtaken", "indexed", "deferred"
OWN_ACTIONS = frozenset({JUDGED, OVERTAKEN, INDEXED, DEFERRED})


def own_issue_event(
    action: str, installation: int | None, repository: Repository, number: int, login: str = ""
) -> IssueEvent:
    """An event with one of OWN_ACTIONS. `login` is the person whose command caused the event, or empty."""
    return IssueEvent(action, installation, repository, number, Actor(login), Actor(login))


@dataclass(frozen=True, slots=True)
class CommentEvent:
    """`issue_comment.*` on an issue (not on a pull request).

    `previous` is the body before an edit. `updated_at` is the time of `body`. `locked`: the issue is locked.
    `app` is the id of the App that wrote the comment, or 0. `author` is the login of the comment's author; jobs of an
    earlier version leave it empty. `by_another` marks an edit by somebody other than the author.
    """

    action: str
    installation: int | None
    repository: Repository
    number: int
    sender: Actor
    comment_id: int
    body: str
    previous: str = ""
    updated_at: str = ""
    locked: bool = False
    app: int = 0
    by_another: bool = False
    author: str = ""

    name = "issue_comment"

    @property
    def partition(self) -> str:
        return f"{self.repository.id}#{self.number}"


@dataclass(frozen=True, slots=True)
class InstallationEvent:
    """`installation.*` and `installation_repositories.*`: the App has gained or lost access to repositories.

    The event does not name the repositories. The handler asks GitHub for them.
    """

    name: str
    action: str
    installation: int

    @property
    def partition(self) -> str:
        return f"installation:{self.installation}"


@dataclass(frozen=True, slots=True)
class RepositoryEvent:
    """`repository.*`: renamed, deleted, transferred, made private or public, archived or unarchived."""

    action: str
    installation: int | None
    repository: Repository

    name = "repository"

    @property
    def partition(self) -> str:
        return f"repository:{self.repository.id}"


@dataclass(frozen=True, slots=True)
class PushEvent:
    """`push` to the default branch that touches the settings file or the issue templates."""

    installation: int | None
    repository: Repository

    name = "push"
    action = ""

    @property
    def partition(self) -> str:
        return f"repository:{self.repository.id}"


@dataclass(frozen=True, slots=True)
class _Step:
    """The bot's own event for one step of background work on a repository.

    `chain` names a round of work, and `step` counts its steps. Both are part of `delivery_id`, so queueing a step twice
    changes nothing. Steps of indexing and of scanning a repository run one at a time.
    """

    installation: int | None
    repository: Repository
    chain: str
    step: int = 0

    name = ""
    action = ""

    @property
    def partition(self) -> str:
        return f"{BACKGROUND}{self.repository.id}"

    @property
    def delivery_id(self) -> str:
        return f"{BACKGROUND}{self.repository.id}:{self.name}-{self.chain}:{self.step}"


@dataclass(frozen=True, slots=True)
class IndexEvent(_Step):
    """The next step of a backfill or of a check. A check finds indexed issues that no longer exist.

    A check has looked up all issues up to number `checked`. In a backfill, `checked` is None. A `completed` event asks
    for the work that follows the first backfill.
    """

    checked: int | None = None
    completed: bool = False

    name = "index"

    @property
    def delivery_id(self) -> str:
        return f"{BACKGROUND}{self.repository.id}:{self.chain}:{self.step}{':completed' if self.completed else ''}"


@dataclass(frozen=True, slots=True)
class ScanEvent(_Step):
    """The next step of scanning a backlog: issues above number `after`. `chain` names the scan's command."""

    after: int = 0

    name = "scan"


@dataclass(frozen=True, slots=True)
class EvaluationEvent(_Step):
    """Evaluate a repository, as requested on the dashboard."""

    name = "evaluation"

    @property
    def partition(self) -> str:
        return f"{REPLAY}{self.repository.id}"


Event = (
    IssueEvent
    | CommentEvent
    | InstallationEvent
    | RepositoryEvent
    | PushEvent
    | IndexEvent
    | ScanEvent
    | EvaluationEvent
)


def full_name(event: Event) -> str:
    """The event's name as in GitHub's manual, such as `issues.opened`; `push` has no actions."""
    return f"{event.name}.{event.action}".rstrip(".")


_CLASSES: dict[str, type[Event]] = {
    "issue": IssueEvent,
    "comment": CommentEvent,
    "installation": InstallationEvent,
    "repository": RepositoryEvent,
    "push": PushEvent,
    "index": IndexEvent,
    "scan": ScanEvent,
    "evaluation": EvaluationEvent,
}
_KINDS = {event_class: kind for kind, event_class in _CLASSES.items()}


def to_json(event: Event) -> str:
    """One line of JSON that `from_json` reads back as an equal event."""
    values = {"kind": _KINDS[type(event)], **_values(event)}
    return json.dumps(values, separators=(",", ":"), ensure_ascii=False, default=_values)


def _values(instance: Any) -> dict[str, Any]:
    # `asdict` would also copy nested values.
    return {name: getattr(instance, name) for name in instance.__dataclass_fields__}


def from_json(text: str) -> Event:
    """Read the JSON of `to_json`; ignores fields that only a later version knows."""
    values = json.loads(text)
    event: Event = _reader(values.pop("kind")).validate_python(values)
    return event


@cache
def _reader(kind: str) -> TypeAdapter[Event]:
    return TypeAdapter(_CLASSES[kind])


@dataclass(frozen=True, slots=True)
class Ignored:
    """A delivery that needs no work, with the reason."""

    reason: str
