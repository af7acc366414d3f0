"""What every process needs first: the clock, the databases brought up to date, the doors to GitHub and the model."""

from __future__ import annotations

from datetime import datetime

from bot.deliveries.database import ensure_schema
from bot.domain.entities import RepoRef
from bot.domain.errors import SettingsError
from bot.github.client import GitHub
from bot.github.repository import RepoClient
from bot.platform.settings import Settings
from bot.search.embedding import Embedder
from bot.search.embedding.local import choose_embedder
from bot.storage import open_store


def now() -> datetime:
    """The clock of a real process, in the host's zone."""
    return datetime.now().astimezone()


def prepare_databases(settings: Settings) -> None:
    """Bring the schemas of store and queue up to date; waits for others that do the same, however long they take."""
    open_store(settings, wait=True).close()
    ensure_schema(settings)


def build_github(settings: Settings) -> GitHub:
    """The door to GitHub; speaking as the App needs its id and key."""
    return GitHub(
        app_id=settings.app_id,
        private_key=settings.private_key,
        api_url=settings.github_api_url,
        api_version=settings.github_api_version,
    )


def reader(settings: Settings, github: GitHub, repo: RepoRef) -> RepoClient:
    """A client that can read `repo`: as the App where one is set up, else with `GITHUB_TOKEN`.

    Raises SettingsError where there is neither, NotFound where the App is not installed on it.
    """
    if settings.app_id and settings.private_key:
        return github.installation(github.app().installation_of(repo))
    if settings.github_token:
        return github.user(settings.github_token)
    raise SettingsError(
        "Set GITHUB_TOKEN to a token that can read the repository (or APP_ID with PRIVATE_KEY or PRIVATE_KEY_PATH, to "
        "ask as the App): none is set."
    )


def embedder(settings: Settings) -> Embedder | None:
    """The model that the host has chosen; nothing is loaded yet."""
    return choose_embedder(settings.embedding_model, settings.embedding_url, settings.embedding_key)
