"""A server that says what is wrong with a call in words: each argument (F1), a problem that the caller can mend, a line
over stdio that is no message."""

from __future__ import annotations

from collections.abc import Iterable
from inspect import cleandoc
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import CallToolResult, InputRequiredResult, TextContent, Tool
from pydantic import ValidationError
from pydantic_core import to_json

from bot.config.problems import nearest
from bot.errors import Forbidden, GitHubError, KeyRefused, NotFound, Retryable, UserError
from bot.mcp.schemas import answer_schema, arguments_schema
from bot.mcp.stdio import answer_what_is_no_message
from bot.store.database.failures import passes, why


class StrictServer(MCPServer[str]):
    """Arguments that a tool does not know are errors; the SDK drops them.

    So a misspelt `threshold` would be answered by the default, and nobody would hear of it.
    """

    async def list_tools(self) -> list[Tool]:
        """The tools, whose schemas say that there are no further arguments, and nothing twice.

        The SDK gives a docstring as it stands in the code; its indentation is no part of a description.
        """
        return [
            tool.model_copy(
                update={
                    "description": cleandoc(tool.description or ""),
                    "input_schema": arguments_schema(tool.input_schema),
                    "output_schema": answer_schema(tool.output_schema),
                }
            )
            for tool in await super().list_tools()
        ]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[str, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """The answer, also as a text without spaces, for clients that read nothing else (as the protocol wants it).

        Raises ToolError for arguments that are unknown, missing or of the wrong kind.
        It says in words, too, what the caller can do something about; a fault of ours stays in the log.
        """
        known = {tool.name: tool.input_schema["properties"] for tool in await super().list_tools()}
        if name in known and (unknown := arguments.keys() - known[name].keys()):
            raise ToolError(f"{name}: " + "; ".join(_unknown(one, known[name]) for one in sorted(unknown)))
        try:
            return _dense(await super().call_tool(name, arguments, context))
        except UnexpectedToolError as fault:
            if said := _said(fault.__cause__):
                raise ToolError(f"{fault}: {said}") from None
            raise
        except ToolError as problem:
            if isinstance(problem.__cause__, ValidationError):
                raise ToolError(f"{name}: {_refused(problem.__cause__)}") from None
            raise

    async def run_stdio_async(self) -> None:
        """As the SDK does it, but that what is no message is answered."""
        # The SDK keeps it to itself. A later version without it serves its messages all the same.
        server = getattr(self, "_lowlevel_server", None)
        if server is None:
            await super().run_stdio_async()
            return
        async with stdio_server() as (lines, answers), anyio.create_task_group() as tasks:
            passed, messages = anyio.create_memory_object_stream[SessionMessage | Exception]()

            async def read() -> None:
                async with passed:
                    await answer_what_is_no_message(lines, passed, answers)

            tasks.start_soon(read)
            await server.run(messages, answers, server.create_initialization_options())
            tasks.cancel_scope.cancel()


def _dense(result: CallToolResult | InputRequiredResult) -> CallToolResult | InputRequiredResult:
    """The SDK indents the text, which is a third of it."""
    if not isinstance(result, CallToolResult) or result.structured_content is None:
        return result
    text = to_json(result.structured_content).decode()
    return result.model_copy(update={"content": [TextContent(type="text", text=text)]})


def _unknown(argument: str, known: Iterable[str]) -> str:
    """An argument's name comes from a model, so that it may be anything: it is quoted and cut."""
    meant = nearest(argument, known)
    hint = f"did you mean {meant!r}?" if meant else "there are " + ", ".join(known)
    return f"there is no argument {argument[:60]!r}, {hint}"


def _said(problem: BaseException | None) -> str:
    """What a tool raised, in words for the caller; empty for a fault of ours."""
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
    if problem is not None and passes(problem):
        return f"the database failed: {why(problem)}. Try again later."
    return ""


def _refused(problem: ValidationError) -> str:
    """What is wrong with which argument, without pydantic's link and without the value."""
    return "; ".join(
        f"{'.'.join(map(str, one['loc']))}: {one['msg']}"
        for one in problem.errors(include_url=False, include_input=False, include_context=False)
    )
