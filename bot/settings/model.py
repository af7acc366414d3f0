"""The host's settings as one frozen object."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from bot.addresses import is_enterprise
from bot.errors import SettingsError
from bot.machine.local import is_here

GITHUB_COM_API = "https://api.github.com"

# Containers, and hosts such as Heroku, reach the receiver through a network of their own.
EVERY_ADDRESS = "0.0.0.0"  # noqa: S104


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
    text_model: bool = True
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
        """Whether GitHub is an Enterprise Server or an enterprise's own host."""
        return is_enterprise(self.github_api_url)

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
            # Beside a part of an App no other one is created.
            mend = (
                "`doppel serve` opens a page that creates the GitHub App; or create it from app.yml, and put its id, "
                "key and secret into the environment or into .env (docs/config.md)."
                if self.new
                else "The rest of the App is set; put it beside that, into the environment or .env (docs/config.md)."
            )
            raise SettingsError(f"{', '.join(missing)}: not set. {mend}")
        return self
