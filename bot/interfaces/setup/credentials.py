"""The App's credentials as the set-up page has got them: a file `app.env` in the data directory, for its owner alone.

It has the form of `.env` and the names of `bot.platform.settings`, which reads it after the environment and `.env`; so
it can be moved to another host's settings as it is.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bot.domain.errors import SettingsError
from bot.platform.private_files import make_folder, replace_file
from bot.platform.settings.loading import credentials_file

# Bytes that the credentials of an App need at most: a disk may have room for a file and none for what is in it.
_ROOM = 16_384


class CannotKeep(SettingsError):
    """The system does not let us write the file: the disk is full, or it is no place of ours."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What GitHub tells of an App once, when it is created, and where it is to be reached (`proxy_url`: a channel).

    `mode` is the host's, where something else was chosen than to comment.
    """

    app_id: int
    slug: str
    private_key: str = field(repr=False)
    webhook_secret: str = field(repr=False)
    client_id: str
    client_secret: str = field(repr=False)
    api_url: str
    proxy_url: str = field(default="", repr=False)
    mode: str = ""

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
            "DOPPEL_MODE": self.mode,
        }
        return {name: value for name, value in wanted.items() if value}


def check_place(home: Path) -> None:
    """Raise SettingsError if no credentials could be kept there, CannotKeep if that can be mended: asked before GitHub
    creates the App, and before it tells the App's key, which it does only once.
    """
    path = credentials_file(home)
    if path.exists():
        raise SettingsError(f"{path}: an App has been set up already. Move the file away to set up another.")
    draft = path.with_name(".app.env.draft")
    with _told(path):
        make_folder(home)
        try:
            replace_file(draft, ["\n" * _ROOM])
        finally:
            draft.unlink(missing_ok=True)


def keep_credentials(home: Path, credentials: Credentials) -> None:
    """Write the file, mode 0600; it appears with all its content or not at all.

    Raises SettingsError if there is one already, since it holds the only copy of another App's key, and CannotKeep.
    """
    check_place(home)
    path = credentials_file(home)
    lines = [f"{name}={_quoted(value)}\n" for name, value in credentials.variables().items()]
    with _told(path):
        replace_file(path, ["# The GitHub App of this bot. Whoever has these can act as the App.\n", *lines])


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """What the system says against the file, for who sets the App up."""
    try:
        yield
    except OSError as problem:
        raise CannotKeep(f"{path}: cannot be written: {problem.strerror or type(problem).__name__}.") from problem


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
