"""Users, organizations, bots, GitHub Apps, installations and tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

AccountType = Literal["User", "Organization", "Bot"]

_LEVELS = ("read", "write", "admin")


@dataclass(slots=True, eq=False)
class Account:
    """An account with a login. `app_id` is set for an App's bot account."""

    id: int
    node_id: str
    login: str
    type: AccountType
    created_at: datetime
    name: str | None = None
    app_id: int | None = None


@dataclass(slots=True, eq=False)
class Hook:
    """An App's webhook settings. Without a url nothing is delivered."""

    id: int
    url: str
    secret: str
    content_type: Literal["json", "form"] = "json"
    insecure_ssl: str = "0"


@dataclass(slots=True, eq=False)
class App:
    """A GitHub App's registration. A JWT of the App is valid if one of `public_keys` verifies it."""

    id: int
    node_id: str
    slug: str
    name: str
    owner: Account
    bot: Account
    client_id: str
    client_secret: str
    private_key: str
    public_keys: list[str]
    permissions: dict[str, str]
    events: list[str]
    hook: Hook
    created_at: datetime
    # The paths that the permission `single_file` covers.
    single_files: tuple[str, ...] = ()
    # The addresses to which people return after signing in.
    callback_urls: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class Installation:
    """An App on an account. `repositories` lists repository ids if only some are selected."""

    id: int
    node_id: str
    app: App
    account: Account
    permissions: dict[str, str]
    events: list[str]
    created_at: datetime
    updated_at: datetime
    all_repositories: bool = False
    repositories: set[int] = field(default_factory=set)
    suspended_at: datetime | None = None
    suspended_by: Account | None = None


@dataclass(slots=True, eq=False)
class InstallationToken:
    """A short-lived token with some or all of an installation's permissions. `repositories` has ids; None means all."""

    token: str
    installation: Installation
    permissions: dict[str, str]
    repositories: frozenset[int] | None
    expires_at: datetime


@dataclass(slots=True, eq=False)
class ManifestCode:
    """A temporary code for an App's manifest; it can be exchanged once, within an hour."""

    code: str
    manifest: dict[str, object]
    owner: Account
    expires_at: datetime


@dataclass(slots=True, eq=False)
class SignInCode:
    """The code that a person brings to an App when signing in; it can be exchanged once, within ten minutes."""

    code: str
    app: App
    user: Account
    redirect_url: str
    expires_at: datetime


def grants(held: Mapping[str, str], permission: str, level: str) -> bool:
    """Whether the permissions in `held` include `permission` at `level` (`read`, `write` or `admin`) or above."""
    have = held.get(permission)
    return have is not None and _LEVELS.index(have) >= _LEVELS.index(level)
