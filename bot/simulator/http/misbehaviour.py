"""Spoils an answer: withholds it and hangs up, halves it, or marks it as failed or incomplete."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import struct
import time
from dataclasses import replace
from typing import NoReturn

from flask import Request

from bot.simulator.faults import Fault
from bot.simulator.http.reply import Reply


class Dropped(ConnectionResetError):
    """The server closes this connection without an answer, on purpose."""


def hang_up(request: Request, fault: Fault) -> NoReturn:
    """Give no answer: hang up with a TCP reset, after a wait (`timeout…`) or at once (`reset…`)."""
    # `wire.py` puts the connection into `environ`; other servers do not.
    connection: socket.socket | None = request.environ.get("simulator.connection")
    if connection is not None:
        if fault.kind.startswith("timeout"):
            _wait_until_client_hangs_up(connection, fault.seconds)
        # With a linger time of zero, close() sends a reset.
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()
    raise Dropped(f"fault {fault.kind}")


def _wait_until_client_hangs_up(connection: socket.socket, seconds: float) -> None:
    """Return after `seconds`, or as soon as the client closes the connection."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        try:
            readable, _, _ = select.select([connection], [], [], min(left, 1.0))
            if readable and not connection.recv(1, socket.MSG_PEEK):
                return
        except OSError:
            return
        if readable:
            # The client's bytes stay unread, so every further `select` returns at once. Pause, to spare the processor.
            time.sleep(0.05)


def after(fault: Fault, reply: Reply, request: Request) -> Reply:
    """Spoil the answer to a request that was carried out."""
    if fault.kind in ("timeout_after_write", "reset_after_write"):
        hang_up(request, fault)
    if fault.kind == "malformed":
        whole = json.dumps(reply.body).encode()
        return replace(reply, raw=whole[: max(1, len(whole) // 2)])
    if fault.kind == "graphql_error" and isinstance(reply.body, dict) and "data" in reply.body:
        # GitHub answers a failed query with HTTP 200. `data` has the fields that did not fail, or is null.
        # `fault.status` is not an HTTP status here, but the argument `code` of `Faults.add`: 200 makes `data` null.
        problem = {"message": "Something went wrong while executing your query."}
        data = None if fault.status == 200 else reply.body["data"]
        return replace(reply, body={"data": data, "errors": [*reply.body.get("errors", ()), problem]})
    if fault.kind == "incomplete_results" and isinstance(reply.body, dict) and "incomplete_results" in reply.body:
        return replace(reply, body=reply.body | {"incomplete_results": True})
    # A search applies `hybrid_unavailable` itself (`rest/search.py`). Any other fault here does not fit the answer.
    return reply
