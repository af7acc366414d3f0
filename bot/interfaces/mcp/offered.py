"""Offers the tools, prompts and resources to models, with errors that the caller can correct."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp_types import ToolAnnotations

from bot.domain.errors import GitHubError, Retryable, UserError, access_refused
from bot.interfaces.mcp.tools import Tools
from bot.storage.failures import passes, why

P = ParamSpec("P")
R = TypeVar("R")


def with_caller_errors(tool: Callable[P, R], failure: type[Exception] = ToolError) -> Callable[P, R]:
    """The tool, wrapped to raise `failure` for errors that concern the caller. Bugs of ours stay in the log."""

    @wraps(tool)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return tool(*args, **kwargs)
        except Exception as problem:
            if message := _caller_error(problem):
                raise failure(message) from None
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
    """Add the prompts, resources and tools to the server; the tools that write, only with `allow_writes`."""
    server.resource(
        "doppel://{owner}/{repo}/issues/{number}/duplicates",
        name="duplicates",
        description="What the bot would look at for an issue: earlier and later reports, open or closed.",
        mime_type="application/json",
    )(with_caller_errors(tools.duplicates, ResourceError))
    for prompt in (before_filing, triage_issue, tidy_backlog):
        server.prompt()(prompt)
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


def before_filing(title: str, body: str = "") -> str:
    """See whether an issue was reported already, before it is filed."""
    return (
        "Before this issue is filed, call check_draft with its title and body. If an open issue is very likely the "
        "same, say which, quote the reason, and propose a comment there that adds what is new here. Else say that "
        f"nothing alike was found, or that not everything could be asked.\n\nTitle: {title}\n\n{body}"
    )


def triage_issue(number: str) -> str:
    """Decide whether an issue repeats an earlier one, and draft the reply."""
    return (
        f"Call find_duplicates for issue {number} with threshold 0, include_closed true and max_candidates 5. Call "
        "explain_pair for each that is at least possibly the same. Then say which one it repeats, if any, and why; "
        "draft a friendly reply. Change nothing on GitHub: a maintainer decides, with `/duplicates of #N`."
    )


def tidy_backlog(limit: str = "10") -> str:
    """List the groups of open issues that report the same thing."""
    return (
        f"Call scan_backlog with limit {limit}. For each group read the original and its members, and sort them into "
        "same, related and different, with a reason each. End with the `/duplicates of #N` commands for a maintainer "
        "to post."
    )
