"""Who calls: an App by its JWT, an installation or a user by a token, or nobody.

https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import jwt

from bot.simulator.errors import ApiError, forbidden, unauthorized
from bot.simulator.state.accounts import Account, App, Installation, InstallationToken, grants
from bot.simulator.state.issues import Issue
from bot.simulator.state.repositories import Repository, Role
from bot.simulator.state.world import World

# GitHub allows ten minutes, and some seconds for clocks that differ.
JWT_LIFETIME = 600
_LEEWAY = 60


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
    """An App on an account; what it writes is written by the App's bot."""

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
        """Whether the token was made for this repository."""
        only = self.token.repositories
        return world.covers(self.installation, repository) and (only is None or repository.id in only)

    def may(self, permission: str, level: str) -> bool:
        """Whether the token holds the permission, and the installation still does."""
        held = grants(self.token.permissions, permission, level)
        return held and grants(self.installation.permissions, permission, level)


@dataclass(frozen=True, slots=True)
class UserCaller:
    """A person with a personal access token, classic or fine-grained (`github_pat_…`), or through an App (`ghu_…`)."""

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


def authenticate(world: World, authorization: str) -> Caller:
    """Find the caller by the value of the `Authorization` header; 401 for credentials that are wrong or over."""
    value = authorization.strip()
    if not value:
        return Anonymous()
    scheme, _, token = value.partition(" ")
    token = token.strip()
    if scheme.lower() == "basic":
        token = _basic(token)
    elif scheme.lower() not in ("bearer", "token") or not token:
        raise unauthorized()
    if token.count(".") == 2 and not token.startswith("ghs_"):
        return AppCaller(_app(world, token))
    user = world.user_tokens.get(token)
    if user is not None:
        return UserCaller(user, token.startswith("github_pat_"))
    if token in world.user_access_tokens:
        person, app = world.user_access_tokens[token]
        return UserCaller(person, app=app)
    record = world.installation_tokens.get(token)
    if record is None or record.expires_at <= world.clock.now():
        raise unauthorized()
    if record.installation.suspended_at is not None:
        raise forbidden("This installation has been suspended")
    return InstallationCaller(record)


def _basic(encoded: str) -> str:
    """The password of HTTP Basic credentials, which is where old clients put the token."""
    try:
        user, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        raise unauthorized() from None
    # Some clients put the token first and this fixed word where the password belongs.
    return user if password in ("", "x-oauth-basic") else password


def _app(world: World, token: str) -> App:
    """The App that signed this JWT. The messages are the ones that GitHub answers with."""
    try:
        header, claims = jwt.get_unverified_header(token), jwt.decode(token, options={"verify_signature": False})
    except jwt.PyJWTError:
        raise unauthorized("A JSON web token could not be decoded") from None
    if header.get("alg") != "RS256":
        raise unauthorized("A JSON web token could not be decoded")
    issuer = str(claims.get("iss", ""))
    app = next((app for app in world.apps.values() if issuer in (str(app.id), app.client_id)), None)
    if app is None:
        message = "'Issuer' claim ('iss') must be an Integer" if not issuer else "Integration not found"
        raise ApiError(401 if not issuer else 404, message)
    if not any(_has_signed(key, token) for key in app.public_keys):
        raise unauthorized("A JSON web token could not be decoded")
    _check_times(claims, world.clock.timestamp())
    return app


def _has_signed(public_key: str, token: str) -> bool:
    """Only the signature: what the claims must be is GitHub's business."""
    try:
        jwt.PyJWS().decode(token, public_key, algorithms=["RS256"])
    except jwt.PyJWTError:
        return False
    return True


def _check_times(claims: Mapping[str, object], now: float) -> None:
    issued, expires = claims.get("iat"), claims.get("exp")
    if not isinstance(expires, int | float):
        raise unauthorized("Missing 'expiration' claim ('exp') in assertion")
    if not isinstance(issued, int | float):
        raise unauthorized("Missing 'issued at' claim ('iat') in assertion")
    if expires <= now:
        raise unauthorized(
            "'Expiration time' claim ('exp') must be a numeric value representing the future time "
            "at which the assertion expires"
        )
    if expires > now + JWT_LIFETIME + _LEEWAY:
        raise unauthorized("'Expiration time' claim ('exp') is too far in the future")
    if issued > now + _LEEWAY:
        raise unauthorized(
            "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
        )


def can_see(world: World, caller: Caller, repository: Repository) -> bool:
    """Whether the repository exists, as far as this caller is told."""
    if not repository.private:
        return True
    if isinstance(caller, InstallationCaller):
        return caller.reaches(world, repository)
    if not isinstance(caller, UserCaller) or world.role(repository, caller.user) == "none":
        return False
    # What an App does for a person is what both may do.
    return caller.app is None or world.installation_for(caller.app, repository) is not None


def app_may(
    world: World, caller: Caller, repository: Repository, needs: Sequence[tuple[str, str]], *, writes: bool
) -> bool:
    """Whether the App that calls, or through which a person does, has one of the permissions that are needed here.

    Where it is not installed it reads what is public, and writes nothing.
    """
    if isinstance(caller, InstallationCaller):
        if not caller.reaches(world, repository):
            return not writes
        return not needs or any(caller.may(*need) for need in needs)
    if isinstance(caller, UserCaller) and caller.app is not None:
        installation = world.installation_for(caller.app, repository)
        if installation is None:
            return not writes
        return not needs or any(grants(installation.permissions, *need) for need in needs)
    return True


def in_sight(world: World, caller: Caller, issue: Issue) -> Issue | None:
    """An issue that another one points to, where it is today; None if it is no more, or the caller must not know."""
    found = world.present(issue)
    return found if found is not None and can_see(world, caller, found.repository) else None


def role_of(world: World, caller: Caller, repository: Repository) -> Role:
    """What a user may do in the repository; for others only whether they can read it."""
    if isinstance(caller, UserCaller):
        return world.role(repository, caller.user)
    return "read" if can_see(world, caller, repository) else "none"
