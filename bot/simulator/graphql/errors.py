"""Errors as GitHub's GraphQL interface reports them. A refusal has a `type` besides message, path and locations."""

from __future__ import annotations

from typing import Any

from graphql import GraphQLError

from bot.simulator.http.context import Context


class Refusal(Exception):
    """A resolver's refusal. `type` is GitHub's: NOT_FOUND, FORBIDDEN, UNPROCESSABLE, …"""

    def __init__(self, type: str, message: str) -> None:
        super().__init__(message)
        self.type = type


def inaccessible() -> Refusal:
    """The refusal if the App lacks the permission."""
    return Refusal("FORBIDDEN", "Resource not accessible by integration")


def unresolved(kind: str, by: str, value: object) -> Refusal:
    """The refusal if no such object is visible. `kind` has an article, as in "a node"."""
    return Refusal("NOT_FOUND", f"Could not resolve to {kind} with the {by} {value}.")


def unknown(ctx: Context, what: str) -> Refusal:
    """The refusal if the simulator does not know `what`. Adds the request to `unknown_requests`."""
    ctx.sim.unknown_requests.append(f"POST /graphql: {what}")
    return Refusal("UNPROCESSABLE", f"The simulator does not know {what}")


def formatted(error: GraphQLError) -> dict[str, Any]:
    """One entry of the answer's `errors`; as on GitHub, FORBIDDEN comes with an extension."""
    body: dict[str, Any] = {}
    if isinstance(error.original_error, Refusal):
        body["type"] = error.original_error.type
        if error.original_error.type == "FORBIDDEN":
            body["extensions"] = {"saml_failure": False}
    if error.path:
        body["path"] = error.path
    if error.locations:
        body["locations"] = [{"line": at.line, "column": at.column} for at in error.locations]
    return body | {"message": error.message}
