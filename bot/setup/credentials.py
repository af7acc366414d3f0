"""The App's credentials as the set-up page has got them: a file `app.env` in the data directory, for its owner alone.

It has the form of `.env` and the names of `bot.settings`, which reads it after the environment and `.env`; so it can
be moved to another host's settings as it is.
"""

from __future__ import annotations

import base64
import os
from dataclasses import dataclass, field
from pathlib import Path

from bot.errors import SettingsError
from bot.private import make_folder

FILE = "app.env"


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


def credentials_file(home: Path) -> Path:
    """Where the credentials lie in a data directory."""
    return home / FILE


def keep_credentials(home: Path, credentials: Credentials) -> None:
    """Write the file, mode 0600; it appears with all its content or not at all.

    Raises SettingsError if there is one already, since it holds the only copy of another App's key.
    """
    make_folder(home)
    path, draft = credentials_file(home), home / f".{FILE}.{os.getpid()}"
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write("# The GitHub App of this bot. Whoever has these can act as the App.\n")
            file.writelines(f"{name}={_quoted(value)}\n" for name, value in credentials.variables().items())
            file.flush()
            os.fsync(file.fileno())
        # Unlike a renaming, a link does not replace what another process has just put there.
        os.link(draft, path)
    except FileExistsError as exists:
        raise SettingsError(
            f"{path}: an App has been set up already. Move the file away to set up another."
        ) from exists
    finally:
        draft.unlink()


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
