"""Errors as logs and the dead-letter list tell of them: without their texts, which can quote an issue or a secret."""

from __future__ import annotations

import traceback

from bot.errors import DidNotEnd, GitHubError, Retryable


def frames(error: BaseException) -> list[str]:
    """The frames of its traceback, one line each, the outermost first."""
    return [f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]


def describe(error: BaseException) -> str:
    """The error for logs and the dead-letter list: its kind and where it came from, without its text.

    Messages of foreign exceptions can quote an issue or a secret. Of our own errors, those that name an operation or
    the reason of a wait are made of our words alone.
    """
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
