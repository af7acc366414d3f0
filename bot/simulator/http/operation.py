"""An operation as GitHub's manual describes it. The table of routes pairs operations with their handlers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bot.simulator.state.repositories import Role

# The callers allowed: an App with its JWT, an installation's token, a person's token, or anybody.
Auth = Literal["app", "installation", "user", "any"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation.

    `permissions` are alternatives, as `(name, level)`. `role` is the least role that a user needs.
    `model` is githubkit's class for the answer: `[A]` for a list, `A|B` for one of several classes.
    `request` is githubkit's class for the request's body. (githubkit is a client library.)
    `creates`: the operation counts as content creation. `resource` is the rate limit that it uses.
    """

    method: str
    path: str
    auth: Auth = "any"
    permissions: tuple[tuple[str, str], ...] = ()
    role: Role = "read"
    model: str | None = None
    request: str | None = None
    creates: bool = False
    resource: str = "core"

    @property
    def is_control(self) -> bool:
        """Whether the operation controls the simulator and is not GitHub's. Limits and faults do not apply to it."""
        return self.path.startswith("/_sim/")


READ_ISSUES = (("issues", "read"), ("pull_requests", "read"))
WRITE_ISSUES = (("issues", "write"), ("pull_requests", "write"))
