"""What every process needs first: the clock, the databases brought up to date, the doors to GitHub and the model."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from time import monotonic

from bot.embedding import Embedder, choose_embedder
from bot.errors import SettingsError
from bot.github.client import GitHub
from bot.github.limits.pacing import AHEAD, SHARED, LocalPacer, Pacer, SharedPacer
from bot.github.repository.repo import RepoClient
from bot.jobs import ensure_schema
from bot.model import RepoRef
from bot.settings import Settings
from bot.store import Store, open_store
from bot.store.parts.budgets import Budgets
from bot.store.parts.tokens import SealedTokens


def now() -> datetime:
    """The clock of a real process, in the host's zone."""
    return datetime.now().astimezone()


def prepare_databases(settings: Settings) -> None:
    """Bring the schemas of store and queue up to date; waits for others that do the same, however long they take."""
    open_store(settings, wait=True).close()
    ensure_schema(settings)


def build_github(settings: Settings, store: Store | None = None) -> GitHub:
    """The door to GitHub; speaking as the App needs its id and key. With a `store` processes share what they know."""
    shared = SealedTokens(store.engine, settings.private_key) if store and settings.private_key else None
    budgets = Budgets(store.engine, SHARED) if store else None

    def pacer(account: str) -> Pacer:
        if budgets is None:
            return LocalPacer(monotonic)
        return SharedPacer(monotonic, partial(budgets.take, account), partial(budgets.rest, account, AHEAD))

    return GitHub(
        app_id=settings.app_id,
        private_key=settings.private_key,
        api_url=settings.github_api_url,
        api_version=settings.github_api_version,
        memory=store.etags if store else None,
        shared_tokens=shared,
        new_pacer=pacer,
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
