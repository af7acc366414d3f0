"""The table of routes: each REST file registers its own with a decorator that says what GitHub's manual says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from bot.simulator.http.context import Context
from bot.simulator.http.operation import Auth, Operation
from bot.simulator.state.repositories import Role

Handler = Callable[[Context], Any]
H = TypeVar("H", bound=Handler)


@dataclass(frozen=True, slots=True, kw_only=True)
class Route(Operation):
    """An operation and what answers it: a `Reply`, or the JSON value of one."""

    handler: Handler


ROUTES: list[Route] = []


def route(
    method: str,
    path: str,
    *,
    auth: Auth = "any",
    permissions: tuple[tuple[str, str], ...] = (),
    role: Role = "read",
    model: str | None = None,
    request: str | None = None,
    creates: bool = False,
    resource: str = "core",
) -> Callable[[H], H]:
    """Register a handler. `path` is written as Flask writes it, e.g. `/repos/<owner>/<repo>`."""

    def register(handler: H) -> H:
        known = Route(
            method=method,
            path=path,
            auth=auth,
            permissions=permissions,
            role=role,
            model=model,
            request=request,
            creates=creates,
            resource=resource,
            handler=handler,
        )
        ROUTES.append(known)
        return handler

    return register
