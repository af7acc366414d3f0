"""What goes wrong in a tool, in words for the caller, who can mend some of it; a fault of ours stays in the log."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from mcp.server.mcpserver.exceptions import ToolError

from bot.errors import Forbidden, GitHubError, KeyRefused, NotFound, Retryable, UserError
from bot.store.database.failures import passes, why

P = ParamSpec("P")
R = TypeVar("R")


def told(tool: Callable[P, R]) -> Callable[P, R]:
    """The tool, which raises ToolError for what the caller is to be told."""

    @wraps(tool)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return tool(*args, **kwargs)
        except Exception as problem:
            if says := _said(problem):
                raise ToolError(says) from None
            raise

    return run


def _said(problem: Exception) -> str:
    """Empty for a fault of ours."""
    if isinstance(problem, Forbidden) and problem.unknown:
        return f"{problem}: GitHub does not know who asks; the server's GITHUB_TOKEN is wrong or has expired"
    if isinstance(problem, NotFound):
        return (
            f"{problem}: it is not there, or cannot be read with what the server is set up with. As the App it must be "
            "installed there; GITHUB_TOKEN counts where no APP_ID is set"
        )
    if isinstance(problem, KeyRefused):
        return (
            f"{problem}. The server's APP_ID and PRIVATE_KEY must belong to one App that is there: see `doppel doctor`."
        )
    if isinstance(problem, UserError | GitHubError):
        return str(problem)
    if isinstance(problem, Retryable):
        return f"{problem}. Try again {'later' if problem.after is None else f'in {problem.after:.0f} seconds'}."
    if passes(problem):
        return f"the database failed: {why(problem)}. Try again later."
    return ""
