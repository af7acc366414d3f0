"""Over stdio the server leans on what the SDK keeps to itself; where that is gone, messages are served all the same."""

from __future__ import annotations

import asyncio

import pytest
from mcp.server import MCPServer

from bot.mcp.strict import StrictServer


def test_without_what_the_sdk_keeps_to_itself_it_serves_as_the_sdk_does(monkeypatch: pytest.MonkeyPatch) -> None:
    served = []

    async def run(server: MCPServer[str]) -> None:
        served.append(server)

    monkeypatch.setattr(MCPServer, "run_stdio_async", run)
    server = StrictServer("doppel")
    monkeypatch.delattr(server, "_lowlevel_server")
    asyncio.run(server.run_stdio_async())
    assert served == [server]
