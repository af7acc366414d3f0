"""Who calls: an App by its JWT, an installation or a user by a token, or nobody.

Rate limits count a caller's requests under its `key`. `account`, if any, is the author of what the caller writes.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.simulator.state.accounts import Account, App, Installation, InstallationToken, grants
from bot.simulator.state.repositories import Repository
from bot.simulator.state.world import World


@dataclass(frozen=True, slots=True)
class Anonymous:
    """No credentials: public data, 60 requests an hour."""

    key: str = "ip:127.0.0.1"
    account: Account | None = None


@dataclass(frozen=True, slots=True)
class AppCaller:
    """An App itself, which may manage its registration and installations."""

    app: App

    @property
    def key(self) -> str:
        return f"app:{self.app.id}"

    @property
    def account(self) -> Account | None:
        return None


@dataclass(frozen=True, slots=True)
class InstallationCaller:
    """An App that is installed on an account. The App's bot is the author of what the App writes."""

    token: InstallationToken

    @property
    def installation(self) -> Installation:
        return self.token.installation

    @property
    def key(self) -> str:
        return f"installation:{self.installation.id}"

    @property
    def account(self) -> Account | None:
        return self.installation.app.bot

    def reaches(self, world: World, repository: Repository) -> bool:
        """Whether the installation covers this repository, and the token was made for it."""
        only = self.token.repositories
        return world.covers(self.installation, repository) and (only is None or repository.id in only)

    def may(self, permission: str, level: str) -> bool:
        """Whether the token holds the permission, and the installation still has it."""
        held = grants(self.token.permissions, permission, level)
        return held and grants(self.installation.permissions, permission, level)


@dataclass(frozen=True, slots=True)
class UserCaller:
    """A person who calls through `app` or with a personal access token: `fine_grained` (`github_pat_…`) or classic."""

    user: Account
    fine_grained: bool = False
    app: App | None = None

    @property
    def key(self) -> str:
        return f"user:{self.user.id}"

    @property
    def account(self) -> Account | None:
        return self.user


Caller = Anonymous | AppCaller | InstallationCaller | UserCaller
