"""The events that have handlers, reduced to what a handler must know (C1).

No event carries an issue's text: handlers read the current state from GitHub, so that a late or repeated delivery
can never act on what is no longer true. The one exception is a comment's body, because commands are what it says.
`installation` is None where the payload names none; the worker then asks GitHub for it.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.model import Actor, Repository

BACKGROUND = "index:"
"""How the partitions of work begin that nobody waits for, and that must not keep others waiting."""

REPLAY = f"{BACKGROUND}replay:"
"""The same for what lasts for hours, and must not keep that work waiting either.

An earlier version's worker, which draws from all queues that there are, must see background work in it: what it takes
for a delivery it ends with itself after a quarter of an hour.
"""


@dataclass(frozen=True, slots=True)
class IssueEvent:
    """`issues.*`. `partition` keeps the work of one issue in order.

    `closed_at`, GitHub's time, tells one closing from another.
    """

    action: str
    installation: int | None
    repository: Repository
    number: int
    sender: Actor
    author: Actor
    locked: bool = False
    title_changed: bool = False
    label: str = ""
    closed_at: str = ""

    name = "issues"

    @property
    def partition(self) -> str:
        return f"{self.repository.id}#{self.number}"


# What the bot queues for itself on an issue: actions of `issues` that GitHub does not have and no delivery brings.
JUDGED = "judged"
"""On another issue it was decided, or taken back, that the two differ."""

OVERTAKEN = "overtaken"
"""An earlier issue, which it repeats, came in after it was looked at."""

INDEXED = "indexed"
"""The index is complete, which it was not when nothing was found to name on it."""

DEFERRED = "deferred"
"""Its author had opened too many within the hour for it to be looked at."""

OWN_ACTIONS = frozenset({JUDGED, OVERTAKEN, INDEXED, DEFERRED})


def own_issue_event(
    action: str, installation: int | None, repository: Repository, number: int, login: str = ""
) -> IssueEvent:
    """The event of one of these actions; `login` is the person whose command led to it, empty where nobody's did."""
    return IssueEvent(action, installation, repository, number, Actor(login), Actor(login))


@dataclass(frozen=True, slots=True)
class CommentEvent:
    """`issue_comment.*` on an issue (not on a pull request).

    `previous` is the body before an edit; `updated_at`, GitHub's time, tells one edit from another.
    `app` is the App that wrote the comment, 0 where it was none. `by_another` is whether somebody else than the author
    edited it.
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

    name = "issue_comment"

    @property
    def partition(self) -> str:
        return f"{self.repository.id}#{self.number}"


@dataclass(frozen=True, slots=True)
class InstallationEvent:
    """`installation.*` and `installation_repositories.*`: which repositories are ours to look at, and no longer."""

    name: str
    action: str
    installation: int
    account: str
    sender: Actor
    added: tuple[Repository, ...] = ()
    removed: tuple[Repository, ...] = ()

    @property
    def partition(self) -> str:
        return f"installation:{self.installation}"


@dataclass(frozen=True, slots=True)
class RepositoryEvent:
    """`repository.*`: renamed, deleted, moved, hidden, shown or frozen."""

    action: str
    installation: int | None
    repository: Repository
    sender: Actor

    name = "repository"

    @property
    def partition(self) -> str:
        return f"repository:{self.repository.id}"


@dataclass(frozen=True, slots=True)
class PushEvent:
    """`push` to the default branch that touches the settings file or the issue templates."""

    installation: int | None
    repository: Repository
    sender: Actor
    settings: bool
    templates: bool

    name = "push"
    action = ""

    @property
    def partition(self) -> str:
        return f"repository:{self.repository.id}"


@dataclass(frozen=True, slots=True)
class _Step:
    """No delivery of GitHub's but our own: one step of work on a repository that nobody waits for.

    `chain` names a round of work and `step` counts in it, so that queueing the same step twice changes nothing. All
    steps of a repository are done one after the other: what is looked through is not filled meanwhile.
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
        """Under which it enters the queue."""
        return f"{BACKGROUND}{self.repository.id}:{self.name}-{self.chain}:{self.step}"


@dataclass(frozen=True, slots=True)
class IndexEvent(_Step):
    """Go on with filling a repository's index.

    `checked` is for a round that asks which issues are still there: up to this number they are. `completed` is for what
    is to be done once, after everything was read for the first time. An earlier version's worker, which does not know
    that, looks for what is new instead.
    """

    checked: int | None = None
    completed: bool = False

    name = "index"

    @property
    def delivery_id(self) -> str:
        return f"{BACKGROUND}{self.repository.id}:{self.chain}:{self.step}{':completed' if self.completed else ''}"


@dataclass(frozen=True, slots=True)
class ScanEvent(_Step):
    """Go on with looking through a repository's backlog, at the issues above `after`.

    `chain` names the command that asked for it.
    """

    after: int = 0

    name = "scan"


@dataclass(frozen=True, slots=True)
class EvaluationEvent(_Step):
    """Evaluate a repository, as somebody asked on the dashboard."""

    name = "evaluation"

    @property
    def partition(self) -> str:
        # It lasts for minutes or hours.
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
    """As GitHub's manual writes it: `issues.opened`, and `push`, which has no actions."""
    return f"{event.name}.{event.action}".rstrip(".")


@dataclass(frozen=True, slots=True)
class Ignored:
    """A delivery that needs no work, with the reason. `unknown` marks events that nobody here ever heard of."""

    reason: str
    unknown: bool = False
