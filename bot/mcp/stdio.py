"""What a client hears that writes a line which is no message: the SDK drops it, and the client waits for its answer.

Half an emoji is enough, such as a title has that was cut off: JSON can write it, and no text can hold it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterable
from typing import Protocol

from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError


class Sending(Protocol):
    """The ends of streams that are needed here."""

    async def send(self, item: SessionMessage, /) -> None: ...


async def answer_what_is_no_message(
    lines: AsyncIterable[SessionMessage | Exception], messages: Sending, answers: Sending
) -> None:
    """Pass the messages among `lines` on, and answer the others, but for empty ones."""
    async for line in lines:
        if isinstance(line, SessionMessage):
            await messages.send(line)
        elif isinstance(line, ValidationError) and (refused := refusal(line)) is not None:
            await answers.send(SessionMessage(refused))


def refusal(problem: ValidationError) -> JSONRPCError | None:
    """The answer to a line that could not be read, under the id of its request where that can be seen."""
    first = problem.errors(include_url=False, include_context=False)[0]
    if first["type"] != "json_invalid":
        return _error(None, INVALID_REQUEST, "This is no JSON-RPC message")
    line = first["input"]
    return _error(_request_id(line), PARSE_ERROR, first["msg"]) if line.strip() else None


def _request_id(line: str) -> int | str | None:
    """The id in a line, as Python's reader finds it, which takes half characters; None for what is no request."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    # Without a method it would be an answer, whose id is one of ours.
    id = message.get("id") if isinstance(message, dict) and "method" in message else None
    usable = id.isprintable() if isinstance(id, str) else isinstance(id, int)
    return id if usable else None


def _error(id: int | str | None, code: int, says: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=id, error=ErrorData(code=code, message=says))
