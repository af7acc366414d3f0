"""A table of routes: each REST file has one, and enters its handlers with what GitHub's manual says of them."""

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
        """Enter the handler below. `path` is written as Flask writes it, e.g. `/repos/<owner>/<repo>`."""

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
