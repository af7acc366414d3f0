"""What can go wrong, sorted by who can do something about it.

`UserError` is for a person: its text says what is wrong and how to mend it, and is shown as it stands.
`Retryable` is for the queue: the same work may succeed later. Everything else is a fault of ours.
"""

from __future__ import annotations

from bot.remarks import Told


class DoppelError(Exception):
    """Base of every error that this project raises on purpose."""


class UserError(DoppelError):
    """Something that the person who asked can mend; the message names it and the way to mend it."""


class SettingsError(UserError):
    """An environment variable is missing or wrong; the message names the variable."""


class InvalidArgument(UserError, ValueError):
    """A caller's argument is outside its range (F1).

    `argument` is its name as the caller wrote it.
    """

    def __init__(self, argument: str, problem: str) -> None:
        super().__init__(f"{argument}: {problem}")
        self.argument = argument


class GitHubError(DoppelError):
    """GitHub refused a request for good: repeating it as it is will not help.

    `status` is the HTTP status, 0 where there was no answer; `operation` names what was asked, without secrets.
    """

    def __init__(self, operation: str, status: int, detail: str) -> None:
        super().__init__(f"{operation}: {status} {detail}".strip())
        self.operation = operation
        self.status = status
        self.detail = detail


class NotFound(GitHubError):
    """404 or 410: it does not exist, or not for us."""


class Forbidden(GitHubError):
    """401, 403 or 451 that is no rate limit: the App lacks a permission, or access has ended."""

    @property
    def unknown(self) -> bool:
        """Whether GitHub does not know who asks: 401, by which it answers a token that is wrong or has expired."""
        return self.status == 401


class Invalid(GitHubError):
    """422: GitHub understood the request and refuses its content."""


class Retryable(DoppelError):
    """The same work may succeed later; `after` is how many seconds to wait at least, None if nobody said."""

    def __init__(self, message: str | Told, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class Overtaken(DoppelError):
    """Another worker does this work by now; what is left of it here must have no effect."""


class RateLimited(Retryable):
    """GitHub's primary or secondary limit, or our own budget, is used up for now."""


class Unavailable(Retryable):
    """GitHub did not answer, or answered with a server error, also after the client's own retries."""


class KeyRefused(Retryable):
    """GitHub does not take the App's own signature: id or key is wrong here, or deleted there, or a clock is off.

    No access has ended, and whoever runs the host mends it; what was accepted meanwhile must not be dropped.
    """
