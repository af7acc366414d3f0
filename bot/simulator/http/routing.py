"""The table of routes: each REST file registers its own with a decorator that says what GitHub's manual says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from bot.simulator.state.repositories import Role

if TYPE_CHECKING:
    from bot.simulator.http.context import Context

# Who may call: an App with its JWT, an installation token, a signed-in person or App, or anybody.
Auth = Literal["app", "installation", "user", "any"]


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: a JSON value (None for none at all), its status and extra headers."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    # Sent as it is instead of JSON.
    raw: bytes | None = None
    content_type: str = "application/json; charset=utf-8"
    # The model of this answer where it is not the route's.
    model: str | None = None


Handler = Callable[["Context"], Any]
H = TypeVar("H", bound=Handler)


@dataclass(frozen=True, slots=True)
class Route:
    """One operation.

    `permissions` are alternatives, as `(name, level)`; `role` is what a user needs in the repository; `model` is
    githubkit's name of the answer, in brackets for a list of them; `request` that of the request's body; `creates`
    marks what counts as content creation.
    """

    method: str
    path: str
    handler: Handler
    auth: Auth
    permissions: tuple[tuple[str, str], ...]
    role: Role
    model: str | None
    request: str | None
    creates: bool
    resource: str


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
        ROUTES.append(Route(method, path, handler, auth, permissions, role, model, request, creates, resource))
        return handler

    return register


READ_ISSUES = (("issues", "read"), ("pull_requests", "read"))
WRITE_ISSUES = (("issues", "write"), ("pull_requests", "write"))
