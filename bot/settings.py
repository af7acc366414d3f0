"""The host's settings: environment (and `.env`) to one frozen object.

What is wrong is told at once, each variable with the way to mend it. What a command does not need it does not ask for:
`require_app` is called by those that speak to GitHub as the App.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import dotenv
import platformdirs

from bot.app_key import read_private_key
from bot.environment import Reader, variables
from bot.errors import SettingsError
from bot.machine.local import is_here
from bot.setup.credentials import credentials_file

GITHUB_COM_API = "https://api.github.com"

# Containers, and hosts such as Heroku, reach the receiver through a network of their own.
EVERY_ADDRESS = "0.0.0.0"  # noqa: S104

# How alike two names must be for one to be taken for a misspelling of the other (difflib's ratio).
_ALIKE = 0.8

# What Probot and other programs call them, so that a host's setting need not be changed for us.
_LEVELS_ELSEWHERE = {"TRACE": "DEBUG", "WARN": "WARNING", "FATAL": "ERROR", "CRITICAL": "ERROR"}

# With one of these set, the environment or `.env` has the App.
_OF_AN_APP = ("APP_ID", "PRIVATE_KEY", "PRIVATE_KEY_PATH", "WEBHOOK_SECRET")


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
    Variable("GITHUB_CLIENT_ID", "The App's client id, for signing in to the dashboard."),
    Variable("GITHUB_CLIENT_SECRET", "The App's client secret, for signing in to the dashboard."),
    Variable("GITHUB_API_URL", "The API's address; `https://HOST/api/v3` on Enterprise Server.", GITHUB_COM_API),
    Variable(
        "GITHUB_TOKEN",
        "A personal token with which `find`, `evaluate`, `scan` and `mcp` read GitHub where no App is set up.",
    ),
    Variable("DATABASE_URL", "`postgresql://USER:PASSWORD@HOST/NAME`, or `sqlite:///PATH`.", "SQLite in `DOPPEL_HOME`"),
    Variable(
        "WEBHOOK_PROXY_URL", "A channel as of smee.io that deliveries are fetched from, without a public address."
    ),
    Variable("PORT", "The port that the receiver listens on.", "3000"),
    Variable(
        "DOPPEL_HOST",
        "The address that the receiver listens on; `127.0.0.1` is this machine alone.",
        "0.0.0.0, every one of the machine's",
    ),
    Variable("WEB_CONCURRENCY", "How many web processes gunicorn starts.", "2"),
    Variable("LOG_LEVEL", "`DEBUG`, `INFO`, `WARNING` or `ERROR`.", "INFO"),
    Variable("DOPPEL_LOG_FORMAT", "`text` for people, `json` for programs: one object a line.", "text"),
    Variable("DOPPEL_METRICS_TOKEN", "The bearer token that `/metrics` then asks for.", "everybody may read it"),
    Variable(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "Where traces go, as OpenTelemetry names it, such as `http://localhost:4318`; needs `doppel[otel]`.",
    ),
    Variable("DOPPEL_HOME", "The data directory.", "the platform's user data directory"),
    Variable(
        "DOPPEL_GITHUB_API_VERSION",
        "The REST API version that is asked for.",
        "2026-03-10, on Enterprise Server 2022-11-28",
    ),
    Variable("DOPPEL_WORKER_THREADS", "How many issues one worker process looks at at once.", "4"),
    Variable("DOPPEL_PAUSED", "`on` pauses the bot everywhere: deliveries are accepted, nothing is answered.", "off"),
    Variable("DOPPEL_DEBOUNCE", "How many seconds an edit waits for the next one before it is looked at.", "3"),
    Variable("DOPPEL_SQLITE_SYNC", "`normal` survives a crash of the process, `full` also one of the machine.", "full"),
    Variable(
        "DOPPEL_WORKFLOW_FIELD",
        "The project field that is shown as an issue's workflow state.",
        "`Workflow State`, else `Status`",
    ),
    Variable(
        "DOPPEL_SIBLINGS",
        "Public repositories that every repository may name under `siblings` although their owner is another: "
        "`OWNER/REPO`, separated by commas.",
    ),
    Variable(
        "DOPPEL_EMBEDDING_MODEL",
        "What turns texts into vectors: `wordllama` is always there, `none` does without, any other name is a model of "
        "sentence-transformers, or of the endpoint in `DOPPEL_EMBEDDING_URL`.",
        "wordllama",
    ),
    Variable(
        "DOPPEL_EMBEDDING_URL",
        "An endpoint that speaks OpenAI's `POST /embeddings`, such as `https://api.openai.com/v1`.",
    ),
    Variable("DOPPEL_EMBEDDING_KEY", "The bearer token for that endpoint."),
    Variable(
        "DOPPEL_REMOTE_TEXT",
        "Which repositories' texts may go to that endpoint: those of `public` ones, or of `all` – of private ones only "
        "where their settings say `remote_text: on`, too.",
        "public",
    ),
    Variable(
        "DOPPEL_REPOSITORY",
        "The `OWNER/REPO` that a bare `#N` means on the command line, and an agent's call that names none.",
    ),
    Variable("DOPPEL_MCP_TOKEN", "The bearer token that agents send to `doppel mcp --http`."),
    Variable(
        "DOPPEL_SETUP_TOKEN",
        "The first-run token that opens `/setup` where no App is set up yet. `doppel serve` makes one by itself.",
    ),
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
    github_api_version: str = ""
    github_token: str = field(default="", repr=False)
    webhook_proxy_url: str = field(default="", repr=False)
    host: str = EVERY_ADDRESS
    port: int = 3000
    web_concurrency: int = 2
    worker_threads: int = 4
    log_level: str = "INFO"
    log_format: str = "text"
    metrics_token: str = field(default="", repr=False)
    otlp_endpoint: str = ""
    paused: bool = False
    debounce_seconds: float = 3.0
    sqlite_synchronous: str = "FULL"
    default_repository: str = ""
    mcp_token: str = field(default="", repr=False)
    setup_token: str = field(default="", repr=False)
    workflow_field: str | None = None
    siblings: tuple[str, ...] = ()
    embedding_model: str = "wordllama"
    embedding_url: str = ""
    embedding_key: str = field(default="", repr=False)
    remote_text: str = "public"

    @property
    def new(self) -> bool:
        """Whether nothing of an App is set, so that one can be created; half an App is a mistake to be told."""
        return self.app_id is None and not self.private_key and not self.webhook_secrets

    @property
    def enterprise(self) -> bool:
        """Whether GitHub is an Enterprise Server or an enterprise's own host, where redirect.github.com does not lead.

        Their APIs are at `https://HOST/api/v3` and `https://api.NAME.ghe.com` ("Getting started with the REST API").
        """
        return self.github_api_url.endswith(("/api/v3", ".ghe.com"))

    @property
    def simulated(self) -> bool:
        """Whether GitHub is this machine itself, as only a simulator can be."""
        return is_here(self.github_api_url)

    @property
    def bind(self) -> str:
        """What the receiver listens on, as gunicorn takes it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def local_url(self) -> str:
        """Where this machine itself reaches the receiver."""
        host = {EVERY_ADDRESS: "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

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
                f"{', '.join(missing)}: not set. `doppel serve` opens a page that creates the GitHub App; or create it "
                "from app.yml, and put its id, key and secret into the environment or into .env (docs/config.md)."
            )
        return self


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
    home = Path(values.get("DOPPEL_HOME") or platformdirs.user_data_dir("doppel", appauthor=False))
    values = _with_stored_app(values, home)
    read = Reader(values)
    settings = Settings(
        home=home,
        database_url=read.checked("", lambda: _database_url(values.get("DATABASE_URL", ""), home)),
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


def _with_stored_app(values: Mapping[str, str], home: Path) -> dict[str, str]:
    """The variables with those of the App that was set up in the browser (`bot.setup`), unless they name one.

    All of an App or nothing: half of one with half of another would be neither.
    """
    path = credentials_file(home)
    if any(values.get(name) for name in _OF_AN_APP) or not path.is_file():
        return dict(values)
    stored = {name: value for name, value in dotenv.dotenv_values(path, interpolate=False).items() if value}
    return stored | {name: value for name, value in values.items() if value or name not in stored}


def _database_url(value: str, home: Path) -> str:
    return database_url(value) if value else f"sqlite:///{home / 'doppel.db'}"


def database_url(value: str, name: str = "DATABASE_URL") -> str:
    """The SQLAlchemy URL; hosts such as Heroku say `postgres://` and name no driver. `name` is what sets it."""
    scheme, sep, rest = value.partition("://")
    if sep and scheme in ("postgres", "postgresql", "postgresql+psycopg"):
        return f"postgresql+psycopg://{rest}"
    if sep and scheme == "sqlite" and rest.startswith("/") and len(rest) > 1:
        return value
    raise SettingsError(
        f"{name}: must be postgresql://USER:PASSWORD@HOST/NAME or sqlite:///PATH; leave it out for SQLite in "
        f"{'DOPPEL_HOME' if name == 'DATABASE_URL' else 'a file that is deleted again'}."
    )
