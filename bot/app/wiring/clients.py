"""Builds the clock, the databases, and the clients for GitHub, the embedding model and the judge."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from bot.deliveries.database import ensure_schema
from bot.domain.entities import RepoRef
from bot.domain.errors import SettingsError
from bot.github.client import GitHub
from bot.github.repository import RepoClient
from bot.platform.settings import Settings
from bot.search.embedding import Embedder
from bot.search.embedding.local_models import choose_embedder
from bot.storage import Store, open_store

if TYPE_CHECKING:
    from bot.search.judge.judge import HostJudge
    from bot.search.judge.prompt import Endpoint


def now() -> datetime:
    """The clock of a real process, in the host's zone."""
    return datetime.now().astimezone()


def prepare_databases(settings: Settings) -> None:
    """Bring the schemas of store and queue up to date; waits for other processes that do the same."""
    open_store(settings, wait=True).close()
    ensure_schema(settings)


def build_github(settings: Settings) -> GitHub:
    """The GitHub client. It needs the App's id and key only for calls as the App."""
    return GitHub(
        app_id=settings.app_id,
        private_key=settings.private_key,
        api_url=settings.github_api_url,
        api_version=settings.github_api_version,
    )


def reader(settings: Settings, github: GitHub, repo: RepoRef) -> RepoClient:
    """A client that acts as the App. If no App is set, the client uses GITHUB_TOKEN.

    Raises SettingsError if neither is set, and NotFound if the App is not installed on `repo`.
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
    """The host's embedding model, not yet loaded; None if the host has none."""
    return choose_embedder(settings.embedding_model, settings.embedding_url, settings.embedding_key)


def build_endpoint(settings: Settings, *, retries: int = 0) -> Endpoint | None:
    """The judge's client. Without a judge, returns None and imports none of its code (J1). Raises SettingsError."""
    if not settings.judge_url and not settings.judge_model:
        return None
    if not settings.judge_url or not settings.judge_model:
        missing, present = ("URL", "MODEL") if not settings.judge_url else ("MODEL", "URL")
        raise SettingsError(f"DOPPEL_JUDGE_{missing}: not set, though DOPPEL_JUDGE_{present} is; the judge needs both.")
    from bot.search.judge.providers import endpoint

    return endpoint(settings.judge_api, settings.judge_url, settings.judge_model, settings.judge_key, retries=retries)


def build_judge(
    settings: Settings, store: Store | None, *, keep: bool = True, breaker: bool = False
) -> HostJudge | None:
    """The judge; None if none is configured. `store` counts the judge's calls, and with `keep` stores the answers.

    With `breaker`, a failure pauses the judge until the endpoint answers a test question.
    """
    endpoint = build_endpoint(settings)
    if endpoint is None:
        return None
    from bot.domain.judge_protocol import JudgeLimits
    from bot.search.judge.judge import Breaker, HostJudge
    from bot.search.judge.prompt import Price

    return HostJudge(
        endpoint,
        calls=store.judgements if store else None,
        verdicts=store.judgements if store and keep else None,
        limits=JudgeLimits(
            settings.judge_calls,
            settings.judge_tokens,
            settings.judge_calls_each,
            settings.judge_tokens_each,
            settings.judge_calls_author,
        ),
        price=Price(settings.judge_price_in, settings.judge_price_out),
        seconds=settings.judge_seconds,
        now=lambda: now().timestamp(),
        private_too=settings.remote_text == "all",
        breaker=Breaker(endpoint, settings.judge_seconds) if breaker else None,
    )
