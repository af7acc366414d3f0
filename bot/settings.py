"""The host's settings: environment (and `.env`) to one frozen object.

A setting that is missing or wrong is a SettingsError that names the variable and how to mend it. What a command does
not need it does not ask for: `require_app` is called by those that speak to GitHub as the App.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import dotenv
import platformdirs

from bot.errors import SettingsError
from bot.github.keys import read_private_key

GITHUB_COM_API = "https://api.github.com"


class Variable(NamedTuple):
    """One environment variable as docs/config.md lists it."""

    name: str
    meaning: str
    default: str = ""


# Every variable that `load` reads; docs/config.md is made from this table.
VARIABLES = (
    Variable("APP_ID", "The GitHub App's id, a number."),
    Variable("PRIVATE_KEY", "The App's private key: the PEM text itself, or the same in base64."),
    Variable("PRIVATE_KEY_PATH", "The file that holds the key, where `PRIVATE_KEY` is not set."),
    Variable("WEBHOOK_SECRET", "The secret that GitHub signs deliveries with. Unsigned deliveries are never accepted."),
    Variable("WEBHOOK_SECRET_PREVIOUS", "The secret of before, accepted as well while you rotate it."),
    Variable("GITHUB_CLIENT_ID", "The App's client id, for signing in."),
    Variable("GITHUB_CLIENT_SECRET", "The App's client secret, for signing in."),
    Variable("GITHUB_API_URL", "The API's address; `https://HOST/api/v3` on Enterprise Server.", GITHUB_COM_API),
    Variable("GITHUB_TOKEN", "A personal token for `doppel find` where no App is set up."),
    Variable("DATABASE_URL", "`postgresql://USER:PASSWORD@HOST/NAME`, or `sqlite:///PATH`.", "SQLite in `DOPPEL_HOME`"),
    Variable("PORT", "The port that the receiver listens on.", "3000"),
    Variable("WEB_CONCURRENCY", "How many web processes gunicorn starts.", "2"),
    Variable("LOG_LEVEL", "`DEBUG`, `INFO`, `WARNING` or `ERROR`.", "INFO"),
    Variable("DOPPEL_HOME", "The data directory.", "the platform's user data directory"),
    Variable("DOPPEL_GITHUB_API_VERSION", "The REST API version that is asked for.", "2026-03-10"),
    Variable("DOPPEL_WORKER_THREADS", "How many issues one worker process looks at at once.", "4"),
    Variable("DOPPEL_PAUSED", "`on` pauses the bot everywhere: deliveries are accepted, nothing is answered.", "off"),
    Variable("DOPPEL_DEBOUNCE", "How many seconds an edit waits for the next one before it is looked at.", "3"),
    Variable(
        "DOPPEL_SQLITE_SYNC", "`normal` survives a crash of the process, `full` also one of the machine.", "normal"
    ),
    Variable("DOPPEL_REPOSITORY", "The `OWNER/REPO` that a bare `#N` means on the command line."),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the host decided. Secrets are left out of `repr`, so that they cannot reach a log by accident."""

    home: Path
    database_url: str = field(repr=False)
    app_id: int | None = None
    private_key: str = field(default="", repr=False)
    webhook_secrets: tuple[str, ...] = field(default=(), repr=False)
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    github_api_url: str = GITHUB_COM_API
    github_api_version: str = "2026-03-10"
    github_token: str = field(default="", repr=False)
    port: int = 3000
    web_concurrency: int = 2
    worker_threads: int = 4
    log_level: str = "INFO"
    paused: bool = False
    debounce_seconds: float = 3.0
    sqlite_synchronous: str = "NORMAL"
    sqlite_sync: str = "normal"
    default_repository: str = ""

    @property
    def enterprise(self) -> bool:
        """Whether GitHub is an Enterprise Server or an enterprise's own host, where redirect.github.com does not lead.

        Their APIs are at `https://HOST/api/v3` and `https://api.NAME.ghe.com` ("Getting started with the REST API").
        """
        return self.github_api_url.endswith(("/api/v3", ".ghe.com"))

    def require_app(self) -> Settings:
        """The same settings, or a SettingsError that lists every variable the App still needs."""
        needed = {
            "APP_ID": self.app_id,
            "PRIVATE_KEY or PRIVATE_KEY_PATH": self.private_key,
            "WEBHOOK_SECRET": self.webhook_secrets,
        }
        missing = [name for name, value in needed.items() if not value]
        if missing:
            raise SettingsError(
                f"{', '.join(missing)}: not set. Create the GitHub App from app.yml, then put its id, key and secret "
                "into the environment or into .env (docs/config.md)."
            )
        return self


def load(environ: Mapping[str, str] | None = None, dotenv_path: Path | None = None) -> Settings:
    """Read the settings from `environ` (default: the process's) over `.env` (default: in the working directory).

    Real environment variables win over `.env`. Raises SettingsError naming the first variable that is wrong.
    """
    file = dotenv.dotenv_values(dotenv_path or Path(".env"))
    values = {name: value for name, value in file.items() if value is not None}
    values.update(os.environ if environ is None else environ)
    home = Path(values.get("DOPPEL_HOME") or platformdirs.user_data_dir("doppel", appauthor=False))
    return Settings(
        home=home,
        database_url=_database_url(values.get("DATABASE_URL", ""), home),
        app_id=_integer(values, "APP_ID", 0, 1, 2**53) or None,
        private_key=read_private_key(values),
        webhook_secrets=_secrets(values),
        client_id=values.get("GITHUB_CLIENT_ID", ""),
        client_secret=values.get("GITHUB_CLIENT_SECRET", ""),
        github_api_url=_url(values, "GITHUB_API_URL", GITHUB_COM_API),
        github_api_version=values.get("DOPPEL_GITHUB_API_VERSION") or "2026-03-10",
        github_token=values.get("GITHUB_TOKEN", ""),
        port=_integer(values, "PORT", 3000, 0, 65535),
        web_concurrency=_integer(values, "WEB_CONCURRENCY", 2, 1, 64),
        worker_threads=_integer(values, "DOPPEL_WORKER_THREADS", 4, 1, 64),
        log_level=_choice(values, "LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR")),
        paused=_flag(values, "DOPPEL_PAUSED"),
        debounce_seconds=_seconds(values, "DOPPEL_DEBOUNCE", 3.0, 0.0, 300.0),
        sqlite_sync=_choice(values, "DOPPEL_SQLITE_SYNC", "NORMAL", ("NORMAL", "FULL")).lower(),
        sqlite_synchronous=_choice(values, "DOPPEL_SQLITE_SYNC", "NORMAL", ("NORMAL", "FULL")),
        default_repository=values.get("DOPPEL_REPOSITORY", ""),
    )


def _secrets(values: Mapping[str, str]) -> tuple[str, ...]:
    names = ("WEBHOOK_SECRET", "WEBHOOK_SECRET_PREVIOUS")
    return tuple(values[name] for name in names if values.get(name))


def _database_url(value: str, home: Path) -> str:
    """The SQLAlchemy URL; hosts such as Heroku say `postgres://` and name no driver."""
    if not value:
        return f"sqlite:///{home / 'doppel.db'}"
    scheme, sep, rest = value.partition("://")
    if sep and scheme in ("postgres", "postgresql", "postgresql+psycopg"):
        return f"postgresql+psycopg://{rest}"
    if sep and scheme == "sqlite" and rest.startswith("/") and len(rest) > 1:
        return value
    raise SettingsError(
        "DATABASE_URL: must be postgresql://USER:PASSWORD@HOST/NAME or sqlite:///PATH; leave it out for SQLite in "
        "DOPPEL_HOME."
    )


def _url(values: Mapping[str, str], name: str, default: str) -> str:
    value = (values.get(name) or default).rstrip("/")
    if not value.startswith(("https://", "http://")):
        raise SettingsError(f"{name}: {value!r} is no http(s) address, such as {default}.")
    return value


def _integer(values: Mapping[str, str], name: str, default: int, least: int, most: int) -> int:
    text = values.get(name, "").strip()
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
        raise SettingsError(f"{name}: {text!r} is no whole number from {least} to {most}.")
    return int(text)


def _seconds(values: Mapping[str, str], name: str, default: float, least: float, most: float) -> float:
    text = values.get(name, "").strip()
    try:
        value = float(text) if text else default
    except ValueError:
        value = -1.0
    if not least <= value <= most:
        raise SettingsError(f"{name}: {text!r} is no number of seconds from {least:g} to {most:g}.")
    return value


def _choice(values: Mapping[str, str], name: str, default: str, choices: tuple[str, ...]) -> str:
    value = (values.get(name) or default).upper()
    if value not in choices:
        raise SettingsError(f"{name}: {value!r} is none of {', '.join(choices)}.")
    return value


def _flag(values: Mapping[str, str], name: str) -> bool:
    value = values.get(name, "").strip().lower()
    if value not in ("", "0", "1", "no", "yes", "off", "on", "false", "true"):
        raise SettingsError(f"{name}: {value!r} is neither on nor off.")
    return value in ("1", "yes", "on", "true")
