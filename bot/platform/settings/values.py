"""What a variable may hold; each mistake is told without the value, in which a password may be."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bot.domain.entities import RepoRef
from bot.domain.errors import InvalidArgument, SettingsError
from bot.platform.addresses import is_web

# What Probot and other programs call them, so that a host's setting need not be changed for us.
_LEVELS_ELSEWHERE = {"TRACE": "DEBUG", "WARN": "WARNING", "FATAL": "ERROR", "CRITICAL": "ERROR"}


def upper(word: str) -> str:
    """A choice in capitals, or a level of the log as other programs name it."""
    return _LEVELS_ELSEWHERE.get(word.upper(), word.upper())


def channel(value: str) -> str:
    """An http(s) address, which may be a secret."""
    if value and not is_web(value):
        raise ValueError("this is not an http(s) address, such as https://example.com/v1.")
    return value.rstrip("/")


def address(value: str) -> str:
    """An http(s) address that is told in messages, so it must not hold a password."""
    if "@" in urlsplit(channel(value)).netloc:
        raise ValueError(
            "this holds a name or password before the @, which messages would show; leave it out. Keys and tokens have "
            "variables of their own (docs/config.md)."
        )
    return value.rstrip("/")


def repositories(value: Any) -> Any:
    """Repositories, separated by commas."""
    if not isinstance(value, str):
        return value
    try:
        return tuple(str(RepoRef.parse(text)) for text in map(str.strip, value.split(",")) if text)
    except InvalidArgument as wrong:
        raise ValueError(f"{str(wrong).partition(': ')[2]}; separate several by commas.") from None


def path_of(name: str, text: str) -> Path:
    """The path that a variable holds. A shell puts the user's folder in place of `~`, but nobody does so in `.env`.

    Raises SettingsError where there is no such user, or one without a folder, as in some containers.
    """
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise SettingsError(f"{name}: {text}: ~ leads nowhere here; write the whole path.") from None


def database_url(value: str, name: str = "DATABASE_URL", otherwise: str = "SQLite in DOPPEL_HOME") -> str:
    """The SQLAlchemy URL; hosts such as Heroku say `postgres://` and name no driver. `name` is what sets it, and
    `otherwise` what is used where that is left out; empty where it cannot be.

    Raises SettingsError, without the value: in whatever way it is wrong, a password may be in it.
    """
    scheme, sep, rest = value.partition("://")
    if sep and scheme in ("postgres", "postgresql", "postgresql+psycopg"):
        return _postgres_url(f"postgresql+psycopg://{rest}", name)
    if sep and scheme == "sqlite" and rest.startswith("/") and rest not in ("/", "/:memory:"):
        return value
    left_out = f"; leave it out for {otherwise}" if otherwise else ""
    raise SettingsError(f"{name}: must be postgresql://USER:PASSWORD@HOST/NAME or sqlite:///PATH{left_out}.")


def _postgres_url(url: str, name: str) -> str:
    """The same; raises SettingsError if it cannot be read, or what is read as its host may be part of the password."""
    # Most commands need it anyway, and those without a database start sooner.
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        make_url(url)
    except (ArgumentError, ValueError):
        form = "postgresql://USER:PASSWORD@HOST:PORT/NAME, where the port is a number"
        raise SettingsError(
            f"{name}: this is not of the form {form}; write @ in the user or password as %40."
        ) from None
    if "@" in url.partition("@")[2].partition("?")[0]:
        # What stands behind the first one would count as the host, and be shown.
        raise SettingsError(f"{name}: this has more than one @; write @ in the user or password as %40.")
    return url
