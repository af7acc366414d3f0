"""Offers the tools to models, with errors that the caller can correct."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

from bot.domain.errors import GitHubError, Retryable, UserError, access_refused
from bot.interfaces.mcp.tools import Tools
from bot.storage.failures import passes, why

P = ParamSpec("P")
R = TypeVar("R")


def with_caller_errors(tool: Callable[P, R]) -> Callable[P, R]:
    """The tool, wrapped to raise ToolError for errors that concern the caller. Bugs of ours stay in the log."""

    @wraps(tool)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return tool(*args, **kwargs)
        except Exception as problem:
            if message := _caller_error(problem):
                raise ToolError(message) from None
            raise

    return run


def _caller_error(problem: Exception) -> str:
    """The message for the caller; empty for a bug of ours."""
    if refused := access_refused(problem):
        return refused
    if isinstance(problem, UserError | GitHubError):
        return str(problem)
    if isinstance(problem, Retryable):
        return f"{problem}. Try again {'later' if problem.after is None else f'in {problem.after:.0f} seconds'}."
    if passes(problem):
        return f"the database failed: {why(problem)}. Try again later."
    return ""


_READS = ToolAnnotations(read_only_hint=True, open_world_hint=True)
_COMPUTES = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=True)


def offer(server: MCPServer[str], tools: Tools, *, allow_writes: bool, playbooks: bool) -> None:
    """Add the tools to the server; those that write, only with `allow_writes`."""
    for tool, kind in (
        (tools.find_duplicates, _READS),
        (tools.check_draft, _READS),
        (tools.explain_pair, _READS),
        (tools.scan_backlog, _READS),
        (tools.dedupe_playbook, _COMPUTES),
        (tools.close_as_duplicate, _WRITES),
    ):
        wanted = playbooks or tool != tools.dedupe_playbook
        if wanted and (allow_writes or kind.read_only_hint):
            server.add_tool(with_caller_errors(tool), annotations=kind)
