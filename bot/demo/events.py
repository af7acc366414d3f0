"""What happens in the show, one narrow value each; presenters print them for people or for programs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Progress:
    """Something of the start-up is about to begin; `what` is a short phrase for a line of progress."""

    what: str


@dataclass(frozen=True, slots=True)
class Ready:
    """Everything runs: the repository, its number of issues, where the parts are reached, seconds since the start."""

    repository: str
    about: str
    issues: int
    simulator: str
    receiver: str
    database: str
    seconds: float


@dataclass(frozen=True, slots=True)
class SceneBegins:
    """The next scene, `number` of `total`."""

    number: int
    total: int
    heading: str


@dataclass(frozen=True, slots=True)
class IssueOpened:
    """A person opened an issue; GitHub delivers it to the receiver now."""

    number: int
    title: str
    body: str
    login: str


@dataclass(frozen=True, slots=True)
class CommandGiven:
    """A person commented on the issue; `note` says what for."""

    number: int
    login: str
    text: str
    note: str


@dataclass(frozen=True, slots=True)
class Commented:
    """The bot's advisory comment is there; `seconds` since the issue was opened.

    `unfold` asks for the folded part to be shown open.
    """

    number: int
    body: str
    seconds: float
    unfold: bool


@dataclass(frozen=True, slots=True)
class Edited:
    """The advisory comment was brought up to date; `before` and `body` are its texts, `seconds` since the command."""

    number: int
    before: str
    body: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Replied:
    """The bot answered a command with a comment of its own."""

    number: int
    body: str
    seconds: float


@dataclass(frozen=True, slots=True)
class StayedSilent:
    """The issue was looked at and nothing was posted: why, and the likeliest that was found, if anything was.

    `bar` is the probability in [0, 1] from which on the bot speaks; `nearest` is number, title and probability.
    """

    number: int
    seconds: float
    reason: str
    bar: float
    nearest: tuple[int, str, float] | None


@dataclass(frozen=True, slots=True)
class IssueClosed:
    """The bot closed the issue for a maintainer, as a duplicate of `original`."""

    number: int
    original: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Checked:
    """A promise that was looked into; what it is, in words."""

    what: str


@dataclass(frozen=True, slots=True)
class Serving:
    """`--serve`: the page is up at `url` until somebody stops it."""

    url: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The show is over: how many scenes, how long in all."""

    scenes: int
    seconds: float


Event = (
    Progress
    | Ready
    | SceneBegins
    | IssueOpened
    | CommandGiven
    | Commented
    | Edited
    | Replied
    | StayedSilent
    | IssueClosed
    | Checked
    | Serving
    | Finished
)


def to_json(event: Event) -> dict[str, Any]:
    """The event for a program: its fields, and `event` with its name in snake case."""
    name = "".join(f"_{c.lower()}" if c.isupper() else c for c in type(event).__name__).lstrip("_")
    return {"event": name, **asdict(event)}
