"""Finds the caller by the value of the `Authorization` header.

https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping

import jwt

from bot.simulator.callers import Anonymous, AppCaller, Caller, InstallationCaller, UserCaller
from bot.simulator.errors import ApiError, forbidden, unauthorized
from bot.simulator.state.accounts import App
from bot.simulator.state.world import World

# In seconds. GitHub allows ten minutes, and some clock skew.
JWT_LIFETIME = 600
_LEEWAY = 60


def authenticate(world: World, authorization: str) -> Caller:
    """Find the caller. Raises ApiError if GitHub would refuse the value."""
    value = authorization.strip()
    if not value:
        return Anonymous()
    scheme, _, token = value.partition(" ")
    token = token.strip()
    if scheme.lower() == "basic":
        token = _basic(token)
    elif scheme.lower() not in ("bearer", "token") or not token:
        raise unauthorized()
    # A JWT has two dots, but an installation's token may have dots, too.
    if token.count(".") == 2 and not token.startswith("ghs_"):
        return AppCaller(_app(world, token))
    user = world.user_tokens.get(token)
    if user is not None:
        return UserCaller(user, fine_grained=token.startswith("github_pat_"))
    # A person who has signed in to an App calls through it with a "user access token".
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
    """The token in HTTP Basic credentials. Most old clients put it where the password belongs."""
    try:
        user, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        raise unauthorized() from None
    # Some clients put the token where the user belongs, with `x-oauth-basic` or nothing as the password.
    return user if password in ("", "x-oauth-basic") else password


def _app(world: World, token: str) -> App:
    """The App that signed this JWT. The error messages are GitHub's."""
    try:
        header, claims = jwt.get_unverified_header(token), jwt.decode(token, options={"verify_signature": False})
    except jwt.PyJWTError:
        raise unauthorized("A JSON web token could not be decoded") from None
    if header.get("alg") != "RS256":
        raise unauthorized("A JSON web token could not be decoded")
    issuer = str(claims.get("iss", ""))
    app = next((app for app in world.apps.values() if issuer in (str(app.id), app.client_id)), None)
    if app is None and issuer:
        raise ApiError(404, "Integration not found")
    if app is None:
        raise ApiError(401, "'Issuer' claim ('iss') must be an Integer")
    if not any(_has_signed(key, token) for key in app.public_keys):
        raise unauthorized("A JSON web token could not be decoded")
    _check_times(claims, world.clock.timestamp())
    return app


def _has_signed(public_key: str, token: str) -> bool:
    """Whether the token's signature fits the key. `_check_times` checks the claims."""
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
