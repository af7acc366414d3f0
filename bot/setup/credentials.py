"""The App's credentials as the set-up page has got them: a file `app.env` in the data directory, for its owner alone.

It has the form of `.env` and the names of `bot.settings`, which reads it after the environment and `.env`; so it can
be moved to another host's settings as it is.
"""

from __future__ import annotations

import base64
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from bot.errors import SettingsError
from bot.machine.private_files import make_folder
from bot.settings.loading import credentials_file

# Bytes that the credentials of an App need at most: a disk may have room for a file and none for what is in it.
_ROOM = 16_384


class CannotKeep(SettingsError):
    """The system does not let us write the file: the disk is full, or it is no place of ours."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What GitHub tells of an App once, when it is created, and where it is to be reached (`proxy_url`: a channel)."""

    app_id: int
    slug: str
    private_key: str = field(repr=False)
    webhook_secret: str = field(repr=False)
    client_id: str
    client_secret: str = field(repr=False)
    api_url: str
    proxy_url: str = field(default="", repr=False)

    def variables(self) -> dict[str, str]:
        """The same as environment variables; the key in base64, since a line of `.env` should be one line."""
        wanted = {
            "APP_ID": str(self.app_id),
            "PRIVATE_KEY": base64.b64encode(self.private_key.encode()).decode(),
            "WEBHOOK_SECRET": self.webhook_secret,
            "GITHUB_CLIENT_ID": self.client_id,
            "GITHUB_CLIENT_SECRET": self.client_secret,
            "GITHUB_API_URL": self.api_url,
            "WEBHOOK_PROXY_URL": self.proxy_url,
        }
        return {name: value for name, value in wanted.items() if value}


def check_place(home: Path) -> None:
    """Raise SettingsError if no credentials could be kept there, CannotKeep if that can be mended: asked before GitHub
    creates the App, and before it tells the App's key, which it does only once.
    """
    path = credentials_file(home)
    with _told(path), _draft(home) as draft:
        if path.exists():
            raise _taken(path)
        _write(draft, "\n" * _ROOM)


def keep_credentials(home: Path, credentials: Credentials) -> None:
    """Write the file, mode 0600; it appears with all its content or not at all.

    Raises SettingsError if there is one already, since it holds the only copy of another App's key, and CannotKeep.
    """
    lines = [f"{name}={_quoted(value)}\n" for name, value in credentials.variables().items()]
    path = credentials_file(home)
    with _told(path), _draft(home) as draft:
        _write(draft, "# The GitHub App of this bot. Whoever has these can act as the App.\n" + "".join(lines))
        _put(draft, path)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """What the system says against the file, for who sets the App up."""
    try:
        yield
    except OSError as problem:
        raise CannotKeep(f"{path}: cannot be written: {problem.strerror or type(problem).__name__}.") from problem


def _taken(path: Path) -> SettingsError:
    return SettingsError(f"{path}: an App has been set up already. Move the file away to set up another.")


@contextmanager
def _draft(home: Path) -> Iterator[Path]:
    """The name of a file that is gone afterwards. Raises OSError."""
    make_folder(home)
    draft = home / f".{credentials_file(home).name}.{secrets.token_hex(4)}"
    try:
        yield draft
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _write(draft: Path, text: str) -> None:
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _put(draft: Path, path: Path) -> None:
    """Give the draft its name. Raises SettingsError if another file has it."""
    try:
        # Unlike a renaming, a link does not replace what another process has just put there.
        os.link(draft, path)
    except FileExistsError:
        raise _taken(path) from None
    except OSError:
        # Shares of other systems, on which folders of containers often lie, have no links. There a look must do.
        if path.exists():
            raise _taken(path) from None
        draft.rename(path)


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
