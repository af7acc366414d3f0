"""What GitHub's manual says of an operation, which every request knows; what answers it is beside it in the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bot.simulator.state.repositories import Role

# Who may call: an App with its JWT, an installation token, a signed-in person or App, or anybody.
Auth = Literal["app", "installation", "user", "any"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation.

    `permissions` are alternatives, as `(name, level)`; `role` is what a user needs in the repository; `model` is
    githubkit's name of the answer, in brackets for a list of them; `request` that of the request's body; `creates`
    marks what counts as content creation.
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
    def is_lever(self) -> bool:
        """Whether it is no operation of GitHub's but one that moves the simulator: it knows no limits and no faults."""
        return self.path.startswith("/_sim/")


READ_ISSUES = (("issues", "read"), ("pull_requests", "read"))
WRITE_ISSUES = (("issues", "write"), ("pull_requests", "write"))
