"""The host's settings as one frozen object. A field has an environment variable, checks, and a text for docs/config.md.

Error messages show only the values of paths and repositories. Any other value may hold a password.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from annotated_types import Ge, Le
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from bot.domain.entities import RepoRef
from bot.domain.errors import InvalidArgument, SettingsError
from bot.platform.addresses import is_enterprise, is_web
from bot.platform.local import is_here

# Names for log levels in Probot and other programs. A host that uses these names need not change its setting for us.
_LEVELS_ELSEWHERE = {"TRACE": "DEBUG", "WARN": "WARNING", "FATAL": "ERROR", "CRITICAL": "ERROR"}


def upper(word: str) -> str:
    """The word in capitals. Another program's name for a log level becomes ours."""
    return _LEVELS_ELSEWHERE.get(word.upper(), word.upper())


def secret_address(value: str) -> str:
    """Check an http(s) address, and drop the final `/`. Messages never show the address: it may be a secret."""
    if value and not is_web(value):
        raise ValueError("this is not an http(s) address, such as https://example.com/v1.")
    return value.rstrip("/")


def address(value: str) -> str:
    """Check an http(s) address. It must hold no password: messages, such as `doppel doctor`'s, show the address."""
    if "@" in urlsplit(secret_address(value)).netloc:
        raise ValueError(
            "this holds a name or password before the @, which messages would show; leave it out. Keys and tokens have "
            "variables of their own (docs/config.md)."
        )
    return value.rstrip("/")


def repositories(value: Any) -> Any:
    """Split `OWNER/REPO, OWNER/REPO` into a tuple."""
    if not isinstance(value, str):
        return value
    try:
        return tuple(str(RepoRef.parse(text)) for text in map(str.strip, value.split(",")) if text)
    except InvalidArgument as wrong:
        raise ValueError(f"{str(wrong).removeprefix(f'{wrong.argument}: ')}; separate several by commas.") from None


def path_of(name: str, text: str) -> Path:
    """The path that a variable holds, with `~` expanded. Raises SettingsError for a user without a home directory."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise SettingsError(f"{name}: {text}: ~ leads nowhere here; write the whole path.") from None


def database_url(value: str, name: str = "DATABASE_URL", otherwise: str = "SQLite in DOPPEL_HOME") -> str:
    """The SQLAlchemy URL of a database. Accepts `postgres://` without a driver, as hosts such as Heroku write it.

    Raises SettingsError. The message has `name`, and may have `otherwise` (the default), but never has the value.
    """
    scheme, sep, rest = value.partition("://")
    if sep and scheme in ("postgres", "postgresql", "postgresql+psycopg"):
        return _postgres_url(f"postgresql+psycopg://{rest}", name)
    if sep and scheme == "sqlite" and rest.startswith("/") and rest not in ("/", "/:memory:"):
        return value
    left_out = f"; leave it out for {otherwise}" if otherwise else ""
    raise SettingsError(f"{name}: must be postgresql://USER:PASSWORD@HOST/NAME or sqlite:///PATH{left_out}.")


def _postgres_url(url: str, name: str) -> str:
    """Check a URL. Raises SettingsError if SQLAlchemy cannot parse it or would misread the host."""
    # Imported here, so that commands without a database start sooner.
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
        # SQLAlchemy would take the text behind the first @ for the host, and messages would show that text.
        raise SettingsError(f"{name}: this has more than one @; write @ in the user or password as %40.")
    return url


GITHUB_COM_API = "https://api.github.com"

# In a container, or on a host such as Heroku, requests come through an internal network, not through 127.0.0.1.
EVERY_ADDRESS = "0.0.0.0"  # noqa: S104

_Secret = Annotated[str, Field(repr=False)]
_Address = Annotated[str, AfterValidator(address)]
_Count = Annotated[int, Ge(1), Le(64)]
_UPPER, _LOWER = BeforeValidator(upper), BeforeValidator(str.lower)


@dataclass(frozen=True)
class Env:
    """A setting's variable. docs/config.md shows `default` and `meaning`, if given, instead of the field's texts."""

    name: str
    default: str = ""
    meaning: str = ""


class Settings(BaseModel):
    """The host's settings. Secrets are left out of `repr` and of errors, so that they cannot reach a log."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True, extra="forbid", use_attribute_docstrings=True)

    app_id: Annotated[int | None, Ge(1), Le(2**53), Env("APP_ID")] = None
    """The GitHub App's id, a number."""
    private_key: Annotated[
        _Secret,
        Env("PRIVATE_KEY"),
        Env("PRIVATE_KEY_PATH", meaning="The file that holds the key; read if `PRIVATE_KEY` is not set."),
    ] = ""
    """The App's private key: the PEM text itself, or the same in base64."""
    webhook_secrets: Annotated[
        tuple[str, ...],
        Field(repr=False),
        Env("WEBHOOK_SECRET"),
        Env("WEBHOOK_SECRET_PREVIOUS", meaning="The previous secret, accepted as well while you rotate."),
    ] = ()
    """The secret that GitHub signs deliveries with. Unsigned deliveries are never accepted."""
    client_id: Annotated[str, Env("GITHUB_CLIENT_ID")] = ""
    """The App's client id, for signing in to the dashboard."""
    client_secret: Annotated[_Secret, Env("GITHUB_CLIENT_SECRET")] = ""
    """The App's client secret, for signing in to the dashboard."""
    github_api_url: Annotated[_Address, Env("GITHUB_API_URL")] = GITHUB_COM_API
    """The API's address; `https://HOST/api/v3` on Enterprise Server."""
    github_token: Annotated[_Secret, Env("GITHUB_TOKEN")] = ""
    """A personal token with which `find`, `evaluate`, `scan` and `mcp` read GitHub if no App is set up."""
    database_url: Annotated[_Secret, Env("DATABASE_URL", "SQLite in `DOPPEL_HOME`")]
    """`postgresql://USER:PASSWORD@HOST/NAME`, with any `@` in the password as `%40`, or `sqlite:///PATH`."""
    webhook_proxy_url: Annotated[_Secret, AfterValidator(secret_address), Env("WEBHOOK_PROXY_URL")] = ""
    """A channel such as smee.io's, from which to fetch deliveries if the host has no public address."""
    port: Annotated[int, Ge(1), Le(65535), Env("PORT")] = 3000
    """The port that the receiver listens on."""
    host: Annotated[str, Env("DOPPEL_HOST", "0.0.0.0, all of the machine's addresses")] = EVERY_ADDRESS
    """The address that the receiver listens on; `127.0.0.1` can be reached from this machine only."""
    web_concurrency: Annotated[_Count, Env("WEB_CONCURRENCY")] = 2
    """How many web processes gunicorn starts."""
    log_level: Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], _UPPER, Env("LOG_LEVEL")] = "INFO"
    """`DEBUG`, `INFO`, `WARNING` or `ERROR`."""
    log_format: Annotated[Literal["text", "json"], _LOWER, Env("DOPPEL_LOG_FORMAT")] = "text"
    """`text` for people, `json` for programs: one object per line."""
    metrics_token: Annotated[_Secret, Env("DOPPEL_METRICS_TOKEN", "anybody may read `/metrics`")] = ""
    """The bearer token that `/metrics` asks for."""
    metrics_port: Annotated[int, Ge(0), Le(65535), Env("DOPPEL_METRICS_PORT", "it listens nowhere")] = 0
    """The port for the metrics of a worker that runs apart from the web process."""
    home: Annotated[Path, Env("DOPPEL_HOME", "the platform's user data directory")]
    """The data directory."""
    github_api_version: Annotated[
        str, Env("DOPPEL_GITHUB_API_VERSION", "2026-03-10; on Enterprise Server 2022-11-28")
    ] = ""
    """The version of GitHub's REST API to ask for."""
    worker_threads: Annotated[_Count, Env("DOPPEL_WORKER_THREADS")] = 4
    """How many issues one worker process handles at the same time."""
    paused: Annotated[bool, Env("DOPPEL_PAUSED")] = False
    """`on` pauses the bot everywhere: deliveries are accepted, nothing is answered."""
    mode: Annotated[Literal["comment", "shadow"], _LOWER, Env("DOPPEL_MODE")] = "comment"
    """The mode of repositories whose settings set no `mode`. `shadow` posts nothing unasked, and
    records what the bot would have said."""
    debounce_seconds: Annotated[float, Ge(0), Le(300), Env("DOPPEL_DEBOUNCE", "3")] = 3.0
    """How many seconds the bot waits after an edit, in case another follows, before it looks at the issue."""
    sqlite_synchronous: Annotated[Literal["NORMAL", "FULL"], _UPPER, Env("DOPPEL_SQLITE_SYNC", "full")] = "FULL"
    """`normal`: accepted deliveries survive a process crash. `full`: also a machine crash."""
    workflow_field: Annotated[str | None, Env("DOPPEL_WORKFLOW_FIELD", "`Workflow State`, else `Status`")] = None
    """The project field that is shown as an issue's workflow state."""
    siblings: Annotated[tuple[str, ...], BeforeValidator(repositories), Env("DOPPEL_SIBLINGS")] = ()
    """Public repositories of other owners that every repository may name under `siblings`: `OWNER/REPO`, separated by
    commas."""
    text_model: Annotated[bool, Env("DOPPEL_TEXT_MODEL")] = True
    """A text model reads the best candidates together with the issue. `off` saves 80 MB of memory and finds less."""
    embedding_model: Annotated[str, Env("DOPPEL_EMBEDDING_MODEL")] = "wordllama"
    """The model that turns texts into vectors. `wordllama` comes with Doppel; `none` does without vectors; any other
    name is a model of the endpoint in `DOPPEL_EMBEDDING_URL`, or else of sentence-transformers."""
    embedding_url: Annotated[_Address, Env("DOPPEL_EMBEDDING_URL")] = ""
    """An endpoint that speaks OpenAI's `POST /embeddings`, such as `https://api.openai.com/v1`. Needs
    `DOPPEL_EMBEDDING_MODEL` too."""
    embedding_key: Annotated[_Secret, Env("DOPPEL_EMBEDDING_KEY")] = ""
    """The bearer token for that endpoint."""
    remote_text: Annotated[Literal["public", "all"], _LOWER, Env("DOPPEL_REMOTE_TEXT")] = "public"
    """Whose texts may go to that endpoint, and to the judge: those of `public` repositories, or of `all`. A private
    repository must also allow this in its own settings: `remote_text: on` for the endpoint, `judge: {private: on}`
    for the judge."""
    judge_url: Annotated[_Address, Env("DOPPEL_JUDGE_URL")] = ""
    """The endpoint of a language model that judges the best candidates, such as `https://api.openai.com/v1` or
    `http://127.0.0.1:11434/v1`. If not set, there is no judge."""
    judge_model: Annotated[str, Env("DOPPEL_JUDGE_MODEL")] = ""
    """The model to ask at the judge's endpoint."""
    judge_key: Annotated[_Secret, Env("DOPPEL_JUDGE_KEY")] = ""
    """The key for that endpoint, if it wants one."""
    judge_api: Annotated[Literal["openai", "anthropic"], _LOWER, Env("DOPPEL_JUDGE_API")] = "openai"
    """The endpoint's API. `openai`: chat completions of any compatible server; `anthropic`: Anthropic's messages."""
    judge_seconds: Annotated[float, Ge(1), Le(120), Env("DOPPEL_JUDGE_SECONDS", "5")] = 5.0
    """How many seconds an issue waits for the judge. Then the bot answers without it."""
    judge_price_in: Annotated[float, Ge(0), Le(10_000), Env("DOPPEL_JUDGE_PRICE_IN", "0")] = 0.0
    """The price of a million tokens sent to the judge, in your money, for computing costs."""
    judge_price_out: Annotated[float, Ge(0), Le(10_000), Env("DOPPEL_JUDGE_PRICE_OUT", "0")] = 0.0
    """The price of a million tokens written by the judge."""
    judge_calls: Annotated[int, Ge(0), Le(10**9), Env("DOPPEL_JUDGE_CALLS")] = 2_000
    """How many questions all repositories together may ask the judge in 24 hours."""
    judge_tokens: Annotated[int, Ge(0), Le(10**12), Env("DOPPEL_JUDGE_TOKENS")] = 4_000_000
    """How many tokens, sent and written, the questions of all repositories together may take in 24 hours."""
    judge_calls_each: Annotated[int, Ge(0), Le(10**9), Env("DOPPEL_JUDGE_CALLS_EACH")] = 500
    """How many questions one repository may ask the judge in 24 hours."""
    judge_tokens_each: Annotated[int, Ge(0), Le(10**12), Env("DOPPEL_JUDGE_TOKENS_EACH")] = 1_000_000
    """How many tokens the questions of one repository may take in 24 hours."""
    judge_calls_author: Annotated[int, Ge(0), Le(10**9), Env("DOPPEL_JUDGE_CALLS_AUTHOR")] = 20
    """How many questions the bot may ask the judge in an hour about the issues of one author."""
    default_repository: Annotated[str, Env("DOPPEL_REPOSITORY")] = ""
    """The `OWNER/REPO` to use for a bare `#N` on the command line, and for an agent's call that names no repository."""
    mcp_token: Annotated[_Secret, Env("DOPPEL_MCP_TOKEN")] = ""
    """The bearer token that agents send to `doppel mcp --http`."""
    setup_token: Annotated[_Secret, Env("DOPPEL_SETUP_TOKEN")] = ""
    """The first-run token that opens `/setup` while no App is set up. `doppel serve` makes one by itself."""

    @property
    def new(self) -> bool:
        """Whether an App can be created: no part of an App is set yet."""
        return self.app_id is None and not self.private_key and not self.webhook_secrets

    @property
    def enterprise(self) -> bool:
        return is_enterprise(self.github_api_url)

    @property
    def simulated(self) -> bool:
        """Whether GitHub is the simulator, which runs on this machine."""
        return is_here(self.github_api_url)

    @property
    def bind(self) -> str:
        """The address to listen on, for gunicorn."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def local_url(self) -> str:
        """The address at which this machine itself reaches the receiver."""
        host = {EVERY_ADDRESS: "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    def require_app(self) -> Settings:
        """Return these settings, or raise a SettingsError that lists every variable the App still needs."""
        needed = {
            "APP_ID": self.app_id,
            "PRIVATE_KEY or PRIVATE_KEY_PATH": self.private_key,
            "WEBHOOK_SECRET": self.webhook_secrets,
        }
        missing = [name for name, value in needed.items() if not value]
        if missing:
            # The set-up page creates an App only if no part of one is set.
            advice = (
                "`doppel serve` opens a page that creates the GitHub App; or create it from app.yml, and put its id, "
                "key and secret into the environment or into .env (docs/config.md)."
                if self.new
                else "Add the missing part to the environment or .env (docs/config.md)."
            )
            raise SettingsError(f"{', '.join(missing)}: not set. {advice}")
        return self
