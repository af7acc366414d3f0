"""The host's settings: environment (and `.env`) to one frozen object.

What is wrong is told at once, each variable with the way to mend it. What a command does not need it does not ask for:
`require_app` is called by those that speak to GitHub as the App.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import dotenv
import platformdirs

from bot.errors import SettingsError
from bot.settings.app_key import read_private_key
from bot.settings.environment import Reader, credentials_file, path_of, variables
from bot.settings.model import EVERY_ADDRESS, GITHUB_COM_API, Settings
from bot.settings.table import VARIABLES

# How alike two names must be for one to be taken for a misspelling of the other (difflib's ratio).
_ALIKE = 0.8

# What Probot and other programs call them, so that a host's setting need not be changed for us.
_LEVELS_ELSEWHERE = {"TRACE": "DEBUG", "WARN": "WARNING", "FATAL": "ERROR", "CRITICAL": "ERROR"}

# With one of these set, the environment or `.env` has the App.
_OF_AN_APP = ("APP_ID", "PRIVATE_KEY", "PRIVATE_KEY_PATH", "WEBHOOK_SECRET")


class WrongSettings(SettingsError):
    """Variables that are set to what they cannot be; `problems` has a sentence for each, in the order of reading."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


def load(environ: Mapping[str, str] | None = None, dotenv_path: Path | None = None) -> Settings:
    """Read the settings from `environ` (default: the process's) over `.env` (default: in the working directory).

    Real environment variables win over `.env`, and both over what the set-up page has stored. Raises WrongSettings
    naming every variable that is wrong.
    """
    values = variables(os.environ if environ is None else environ, dotenv_path)
    home = _home(values)
    values = _with_stored_app(values, home)
    read = Reader(values)
    settings = Settings(
        home=home,
        database_url=read.checked("", lambda: _database_url(read.text("DATABASE_URL"), home)),
        app_id=read.integer("APP_ID", 0, 1, 2**53) or None,
        private_key=read.checked("", lambda: read_private_key(values)),
        webhook_secrets=read.secrets("WEBHOOK_SECRET", "WEBHOOK_SECRET_PREVIOUS"),
        client_id=read.text("GITHUB_CLIENT_ID"),
        client_secret=read.text("GITHUB_CLIENT_SECRET"),
        github_api_url=read.url("GITHUB_API_URL", GITHUB_COM_API),
        github_api_version=read.text("DOPPEL_GITHUB_API_VERSION"),
        github_token=read.text("GITHUB_TOKEN"),
        webhook_proxy_url=read.url("WEBHOOK_PROXY_URL", "", "https://smee.io/CHANNEL", secret=True),
        host=read.text("DOPPEL_HOST", EVERY_ADDRESS),
        port=read.integer("PORT", 3000, 1, 65535),
        web_concurrency=read.integer("WEB_CONCURRENCY", 2, 1, 64),
        worker_threads=read.integer("DOPPEL_WORKER_THREADS", 4, 1, 64),
        log_level=read.choice("LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR"), _LEVELS_ELSEWHERE),
        log_format=read.choice("DOPPEL_LOG_FORMAT", "TEXT", ("TEXT", "JSON")).lower(),
        metrics_token=read.text("DOPPEL_METRICS_TOKEN"),
        otlp_endpoint=read.url("OTEL_EXPORTER_OTLP_ENDPOINT", "", "http://localhost:4318"),
        paused=read.flag("DOPPEL_PAUSED"),
        debounce_seconds=read.seconds("DOPPEL_DEBOUNCE", 3.0, 0.0, 300.0),
        sqlite_synchronous=read.choice("DOPPEL_SQLITE_SYNC", "FULL", ("NORMAL", "FULL")),
        default_repository=read.text("DOPPEL_REPOSITORY"),
        mcp_token=read.text("DOPPEL_MCP_TOKEN"),
        setup_token=read.text("DOPPEL_SETUP_TOKEN"),
        workflow_field=read.text("DOPPEL_WORKFLOW_FIELD") or None,
        siblings=read.repositories("DOPPEL_SIBLINGS"),
        text_model=read.choice("DOPPEL_TEXT_MODEL", "ON", ("ON", "OFF")) == "ON",
        embedding_model=read.text("DOPPEL_EMBEDDING_MODEL", "wordllama"),
        embedding_url=read.url("DOPPEL_EMBEDDING_URL", "", "https://api.openai.com/v1"),
        embedding_key=read.text("DOPPEL_EMBEDDING_KEY"),
        remote_text=read.choice("DOPPEL_REMOTE_TEXT", "PUBLIC", ("PUBLIC", "ALL")).lower(),
    )
    if read.problems:
        raise WrongSettings(read.problems)
    return settings


def misspelt(environ: Mapping[str, str] | None = None, dotenv_path: Path | None = None) -> dict[str, str]:
    """Names that nothing reads although they look like ours, each with the nearest that is read ("" if none is near).

    Every unknown `DOPPEL_…` counts; of the others those that stand in `.env` and are nearly one of ours, since the
    environment is full of the names of other programs.
    """
    known = [variable.name for variable in VARIABLES]
    here = dict(os.environ if environ is None else environ)
    file = set(variables({}, dotenv_path))
    found = {}
    for name in sorted({*file, *here} - set(known)):
        near = difflib.get_close_matches(name, known, 1, _ALIKE)
        if name.startswith("DOPPEL_") or (name in file and near):
            found[name] = near[0] if near else ""
    return found


def parts_of_an_app() -> list[str]:
    """The variables of the environment and `.env` by which the App that was set up in the browser is not read."""
    values = variables(os.environ, None)
    return [name for name in _OF_AN_APP if values.get(name)]


def _home(values: Mapping[str, str]) -> Path:
    """The data directory. Raises WrongSettings where it cannot be one."""
    named = values.get("DOPPEL_HOME", "").strip() or platformdirs.user_data_dir("doppel", appauthor=False)
    try:
        return path_of("DOPPEL_HOME", named)
    except SettingsError as problem:
        raise WrongSettings([str(problem)]) from None


def _with_stored_app(values: Mapping[str, str], home: Path) -> dict[str, str]:
    """The variables with those of the App that was set up in the browser (`bot.setup`), unless they name one.

    All of an App or nothing: half of one with half of another would be neither. Raises WrongSettings where the place of
    the file may not be looked into, as by an administrator in another user's data, and where somebody has saved it in
    another encoding.
    """
    path = credentials_file(home)
    try:
        if any(values.get(name) for name in _OF_AN_APP) or not path.is_file():
            return dict(values)
        stored = {name: value for name, value in dotenv.dotenv_values(path, interpolate=False).items() if value}
    except PermissionError as refused:
        raise WrongSettings([f"DOPPEL_HOME: {path}: {refused.strerror}; run as the user that owns it."]) from None
    except UnicodeDecodeError:
        raise WrongSettings([f"{path}: this is not UTF-8; save the file in that encoding."]) from None
    return stored | {name: value for name, value in values.items() if value or name not in stored}


def _database_url(value: str, home: Path) -> str:
    return database_url(value) if value else f"sqlite:///{home / 'doppel.db'}"


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
