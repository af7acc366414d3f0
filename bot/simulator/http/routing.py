"""Tables of routes. Each file with handlers has a table that pairs handlers with operations (see `operation.py`)."""

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
    """An operation and its handler, which returns a `Reply` or a JSON value."""

    handler: Handler


class Routes(list[Route]):
    """The routes of one file."""

    def add(
        self,
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
        """Register the decorated handler. `path` has Flask's form, e.g. `/repos/<owner>/<repo>`."""

        def enter(handler: H) -> H:
            route = Route(
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
            self.append(route)
            return handler

        return enter
