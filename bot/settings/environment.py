"""The environment as variables of a kind: text, number, address, choice; each mistake is told with its variable."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import dotenv
from dotenv.parser import parse_stream

from bot.addresses import is_web
from bot.errors import InvalidArgument, SettingsError
from bot.model import RepoRef

_T = TypeVar("_T")

_KEYS = ("PRIVATE_KEY", "PRIVATE_KEY_PATH")


def credentials_file(home: Path) -> Path:
    """Where the credentials of an App that was set up in the browser (`bot.setup`) lie in a data directory."""
    return home / "app.env"


def variables(environ: Mapping[str, str], dotenv_path: Path | None) -> dict[str, str]:
    """Those of `environ` over those of `.env` (default: in the working directory).

    The two that hold the App's key are one setting: the file's count only where the environment has neither. Raises
    SettingsError where the file cannot be read.
    """
    path = dotenv_path or Path(".env")
    try:
        file = {name: value for name, value in dotenv.dotenv_values(path).items() if value is not None}
    except OSError as problem:
        raise SettingsError(f"{path}: cannot be read: {problem.strerror}.") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path}: this is not UTF-8; save the file in that encoding.") from None
    if any(environ.get(name, "").strip() for name in _KEYS):
        file = {name: value for name, value in file.items() if name not in _KEYS}
    return file | dict(environ)


def unread_lines(dotenv_path: Path | None = None) -> list[int]:
    """The numbers of the lines of `.env` that are no setting, and are passed over.

    Of a file that cannot be read there are none: `variables` says what is wrong with it.
    """
    try:
        text = (dotenv_path or Path(".env")).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return []
    return [found.original.line for found in parse_stream(io.StringIO(text)) if found.error]


def path_of(name: str, text: str) -> Path:
    """The path that a variable holds. A shell puts the user's folder in place of `~`, but nobody does so in `.env`.

    Raises SettingsError where there is no such user, or one without a folder, as in some containers.
    """
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise SettingsError(f"{name}: {text}: ~ leads nowhere here; write the whole path.") from None


class Reader:
    """Takes variables out of `values`; what is wrong is kept in `problems`, so that all of it can be told at once."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values
        self.problems: list[str] = []

    def checked(self, otherwise: _T, read: Callable[[], _T]) -> _T:
        """What `read` returns, or `otherwise` where it raises a SettingsError."""
        try:
            return read()
        except SettingsError as problem:
            self.problems.append(str(problem))
            return otherwise

    def text(self, name: str, default: str = "") -> str:
        """The text without the white space around it."""
        return self._values.get(name, "").strip() or default

    def secrets(self, name: str, previous: str) -> tuple[str, ...]:
        """The secret, and the one before it, which counts only beside it."""
        # As they are: white space can be part of a secret. Nothing but white space is none.
        found = [self._values.get(one, "") for one in (name, previous)]
        return tuple(one for one in found if one.strip()) if found[0].strip() else ()

    def url(self, name: str, default: str, example: str = "", *, secret: bool = False) -> str:
        """An http(s) address. One that is no `secret` is told in messages, so it must not hold a password."""
        value = self.text(name, default).rstrip("/")
        if value and not is_web(value):
            # Without the value: whoever knows a channel's address can read it, and others can hold a password.
            self.problems.append(f"{name}: this is not an http(s) address, such as {example or default}.")
        elif not secret and "@" in urlsplit(value).netloc:
            self.problems.append(
                f"{name}: this holds a name or password before the @, which messages would show; leave it out. Keys "
                "and tokens have variables of their own (docs/config.md)."
            )
        return value

    def integer(self, name: str, default: int, least: int, most: int) -> int:
        """A whole number within bounds."""
        text = self.text(name)
        if not text:
            return default
        if text.isascii() and text.isdigit() and least <= int(text) <= most:
            return int(text)
        self.problems.append(f"{name}: {text!r} is not a whole number from {least} to {most}.")
        return default

    def seconds(self, name: str, default: float, least: float, most: float) -> float:
        """A number of seconds within bounds."""
        text = self.text(name)
        try:
            value = float(text) if text else default
        except ValueError:
            value = -1.0
        if not least <= value <= most:
            self.problems.append(f"{name}: {text!r} is not a number of seconds from {least:g} to {most:g}.")
        return value

    def repositories(self, name: str) -> tuple[str, ...]:
        """Repositories, separated by commas."""
        found: list[str] = []
        for text in filter(None, map(str.strip, self.text(name).split(","))):
            try:
                found.append(str(RepoRef.parse(text)))
            except InvalidArgument:
                self.problems.append(f"{name}: {text!r} is not of the form OWNER/REPO; separate several by commas.")
        return tuple(found)

    def choice(self, name: str, default: str, choices: tuple[str, ...], others: Mapping[str, str] | None = None) -> str:
        """One of some words, in capitals; upper and lower case are alike. `others` are further words for some."""
        value = self.text(name, default).upper()
        value = (others or {}).get(value, value)
        if value not in choices:
            self.problems.append(f"{name}: {value!r} is not one of {', '.join(choices)}.")
        return value

    def flag(self, name: str) -> bool:
        """On or off, off by default."""
        value = self.text(name).lower()
        if value not in ("", "0", "1", "no", "yes", "off", "on", "false", "true"):
            self.problems.append(f"{name}: {value!r} is neither on nor off.")
        return value in ("1", "yes", "on", "true")
