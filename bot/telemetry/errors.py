"""Describes errors for logs and dead letters, without their texts, which can quote an issue or a secret."""

from __future__ import annotations

import traceback

from bot.errors import DidNotEnd, GitHubError, Retryable


def frames(error: BaseException) -> list[str]:
    """The frames of the traceback, one line each, the outermost first."""
    return [f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]


def describe(error: BaseException) -> str:
    """The error's kind and where it came from. Of our own errors also the message, if it has our words alone."""
    if isinstance(error, GitHubError):
        return f"{type(error).__name__}: {error.operation} ({error.status})"
    if isinstance(error, Retryable | DidNotEnd):
        return f"{type(error).__name__}: {error}"
    places = [f"{frame.name} ({frame.filename}:{frame.lineno})" for frame in traceback.extract_tb(error.__traceback__)]
    place = f" at {places[-1]}" if places else ""
    cause = f" from {describe(error.__cause__)}" if error.__cause__ else ""
    return f"{type(error).__name__}{place}{cause}"


def stack(error: BaseException) -> str:
    """The traceback without the messages of the exceptions, one line a frame."""
    return "\n".join([*frames(error), f"  {describe(error)}"])
