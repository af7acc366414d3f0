"""Streamable HTTP for those who have the token (https://modelcontextprotocol.io/specification, "Transports")."""

from __future__ import annotations

import hmac
import json

from mcp.server import MCPServer
from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/mcp"


class BearerToken:
    """An application that answers 401 to requests without `Authorization: Bearer TOKEN`, before it reads anything."""

    def __init__(self, application: ASGIApp, token: str) -> None:
        if not token:
            raise ValueError("an empty token would let everybody in")
        self._application = application
        self._expected = b"bearer " + token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The start and end of the server come through too; nothing else but HTTP does."""
        if scope["type"] == "lifespan" or (scope["type"] == "http" and self._may_pass(scope)):
            await self._application(scope, receive, send)
        elif scope["type"] == "http":
            body = json.dumps({"error": "Authorization: Bearer TOKEN is missing or wrong"}).encode()
            headers = [(b"content-type", b"application/json"), (b"www-authenticate", b'Bearer realm="doppel"')]
            await send({"type": "http.response.start", "status": 401, "headers": headers})
            await send({"type": "http.response.body", "body": body})

    def _may_pass(self, scope: Scope) -> bool:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        if len(given) != 1:
            return False
        scheme, _, token = given[0].partition(b" ")
        # In constant time, so that a wrong token does not tell how much of it is right.
        return hmac.compare_digest(scheme.lower() + b" " + token.strip(), self._expected)


def application(server: MCPServer[str], token: str, host: str) -> ASGIApp:
    """The server at PATH. `host` is what it will listen on: on a loopback address other `Host` names are refused."""
    return BearerToken(server.streamable_http_app(streamable_http_path=PATH, host=host), token)
