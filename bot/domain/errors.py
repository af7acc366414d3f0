"""Errors, sorted by who can act on them, and remarks on searches that went wrong.

`UserError` is for a person: its text says what is wrong and how to fix it. `Retryable` is for the queue, which tries
the same work again later. `GitHubError` is a refusal by GitHub. Any other error is usually a bug of ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class RemarkCode(Enum):
    """The ways in which a search can go wrong, each with its English sentence. The bot's comments translate it."""

    NOT_FOUND = "{} not found"
    LEFT = "{} more are considered when the index is ready"  # known issues left unread
    NOT_FOUND_AND_LEFT = f"{NOT_FOUND}, {LEFT}"
    BY_WORDS = "searched by words only: {}"
    UNREAD = "whether the repositories are public could not be read"
    HIDDEN = "a repository is public no more"
    LEFT_OUT = "{} of {} left out: not a public repository of this owner, nor allowed by the host"
    NO_PERMISSION = "the App lacks the permission to read discussions"
    EMPTY = "GitHub's answer is empty"
    SEARCH_LIMIT = "GitHub's rate limit for searches is used up for now"
    HYBRID_LIMIT = "GitHub's rate limit for searches by meaning is used up for now"
    TOO_LATE = "no answer within {} seconds"
    JUDGE_UNREACHED = "it did not answer"
    JUDGE_UNUSABLE = "its answer could not be used"
    JUDGE_BUDGET = "its budget is used up for now"
    JUDGE_PAUSED = "it failed a moment ago and is left alone for a while"
    FAILED = "failed unexpectedly; the log has the details"
    # OTHERS quotes another program's words, which nobody translates.
    OTHERS = "{}"

    def of(self, *values: int | str) -> Remark:
        """A remark with this code. The remark quotes `values`."""
        return Remark(self, values)


@dataclass(frozen=True, slots=True)
class Remark:
    """A code with the values that it quotes. `str` gives an English sentence."""

    code: RemarkCode
    values: tuple[int | str, ...] = ()

    def __str__(self) -> str:
        return self.code.value.format(*self.values)


@dataclass(frozen=True, slots=True)
class SourceProblem:
    """A source that failed or was skipped, and why."""

    source: str
    remark: Remark

    @property
    def skipped(self) -> bool:
        """Whether policy or permissions forbade asking this source. A skip is no outage (F9)."""
        return self.remark.code in (RemarkCode.LEFT_OUT, RemarkCode.NO_PERMISSION)

    def __str__(self) -> str:
        return f"{self.source}: {self.remark}"


def remark_from(failure: Exception) -> Remark:
    """The remark that an error carries, or a remark that quotes the error."""
    content = failure.args[0] if failure.args else ""
    return content if isinstance(content, Remark) else RemarkCode.OTHERS.of(str(failure))


class DoppelError(Exception):
    """The base class of all errors that this project raises deliberately."""


class UserError(DoppelError):
    """An error that the person who asked can fix. The message says how."""


class SettingsError(UserError):
    """The host's set-up is wrong. The message usually names a variable."""


class InvalidArgument(UserError, ValueError):
    """A caller's argument is not valid (F1); `argument` is its name."""

    def __init__(self, argument: str, problem: str) -> None:
        super().__init__(f"{argument}: {problem}")
        self.argument = argument


class GitHubError(DoppelError):
    """GitHub refused a request, and would refuse it again.

    `status` is the HTTP status, 0 without a response. `operation` names the request, without secrets.
    """

    def __init__(self, operation: str, status: int, detail: str) -> None:
        super().__init__(f"{operation}: {status} {detail}".strip())
        self.operation = operation
        self.status = status
        self.detail = detail


class NotFound(GitHubError):
    """404 or 410: the resource does not exist, or the App may not see it. Or a redirect: the resource has moved."""


class Forbidden(GitHubError):
    """401, 403 or 451 (except rate limits), or no installation token: a permission is missing, or access has ended."""

    @property
    def unknown(self) -> bool:
        """Whether GitHub does not know the caller: the token is wrong or has expired (401)."""
        return self.status == 401


class Invalid(GitHubError):
    """422: GitHub understands the request but refuses its content."""


class Retryable(DoppelError):
    """The same work may succeed later, after at least `after` seconds if that is known."""

    def __init__(self, message: str | Remark, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class Overtaken(DoppelError):
    """This worker has lost the lease on its work to another worker, so it must have no further effects."""


class RateLimited(Retryable):
    """GitHub's primary or secondary limit, or our own budget, is used up for now."""


class Unavailable(Retryable):
    """GitHub, another server or a database failed or did not answer, even after the client's own retries."""


class KeyRefused(Retryable):
    """GitHub rejects the App's own signature: the App's id or key is wrong or deleted, or a clock is off.

    Retryable, so that the queue keeps accepted deliveries until the host has fixed the cause.
    """


def access_refused(problem: Exception) -> str:
    """What to tell people about a wrong token or key, or a missing, hidden or moved resource. Empty otherwise."""
    match problem:
        case Forbidden(unknown=True):
            return f"{problem}: GitHub does not know who asks; GITHUB_TOKEN is wrong or has expired"
        case NotFound(status=301):
            # The message already says that the resource has moved.
            return str(problem)
        case NotFound():
            return (
                f"{problem}: it is not there, or cannot be read with Doppel's credentials. With "
                "APP_ID, the App must be installed there. Without APP_ID, Doppel uses GITHUB_TOKEN"
            )
        case KeyRefused():
            return f"{problem}. APP_ID and PRIVATE_KEY must belong to one existing App: see `doppel doctor`"
    return ""


class DidNotEnd(DoppelError):
    """A job hung. The message says at which lines of code, and quotes nothing from an issue."""
