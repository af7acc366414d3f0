"""The host's judge, where one is named; nothing of it is imported where none is (J1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.app.wiring.clients import now
from bot.domain.errors import SettingsError
from bot.platform.settings import Settings
from bot.storage import Store

if TYPE_CHECKING:
    from bot.search.judge.judge import HostJudge
    from bot.search.judge.prompt import Endpoint


def build_endpoint(settings: Settings, *, retries: int = 0) -> Endpoint | None:
    """The model that the host has named. Raises SettingsError where its client is not installed, or half is named."""
    if not settings.judge_url and not settings.judge_model:
        return None
    if not settings.judge_url or not settings.judge_model:
        missing, there = ("URL", "MODEL") if settings.judge_model else ("MODEL", "URL")
        raise SettingsError(f"DOPPEL_JUDGE_{missing}: not set, though DOPPEL_JUDGE_{there} is; the judge needs both.")
    from bot.search.judge.providers import endpoint

    where = (settings.judge_api, settings.judge_url, settings.judge_model, settings.judge_key)
    return endpoint(*where, retries=retries)


def build_judge(settings: Settings, store: Store | None, *, keep: bool = True) -> HostJudge | None:
    """The judge with its record. A store counts its calls; it has the answers only if it is to `keep` them."""
    chosen = build_endpoint(settings)
    if chosen is None:
        return None
    from bot.domain.judge_protocol import JudgeLimits
    from bot.search.judge.judge import HostJudge, InMemoryRecord
    from bot.search.judge.prompt import Price

    return HostJudge(
        chosen,
        store.judgements if store and keep else InMemoryRecord(store.judgements if store else None),
        JudgeLimits(
            settings.judge_calls,
            settings.judge_tokens,
            settings.judge_calls_each,
            settings.judge_tokens_each,
            settings.judge_calls_author,
        ),
        Price(settings.judge_price_in, settings.judge_price_out),
        settings.judge_seconds,
        lambda: now().timestamp(),
        private_too=settings.remote_text == "all",
    )
