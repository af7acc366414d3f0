"""Reads the reactions in every repository, and recalibrates its threshold."""

from __future__ import annotations

import logging
from functools import partial

from bot.domain.errors import GitHubError, Retryable
from bot.quality.calibration import recalibrate
from bot.quality.polling import ReactionPoll, RequestBudget
from bot.storage import StoredRepository
from handlers.scheduled.each import in_each, workable
from handlers.services import Services

logger = logging.getLogger(__name__)

FEEDBACK_EVERY = 3600.0
"""Seconds. An unwanted comment is folded within the hour."""


def look_at_feedback(services: Services) -> None:
    """Read the reactions to the latest comments and recalibrate, unless the host is paused.

    Each turn begins with another repository, so that turns that end early leave none out for ever.
    """
    if services.settings.paused:
        return
    now, allowances = services.now(), dict[int, RequestBudget]()
    ours = workable(services.store)
    first = int(now // FEEDBACK_EVERY) % len(ours) if ours else 0

    def look(known: StoredRepository, installation: int) -> None:
        allowance = allowances.setdefault(installation, RequestBudget())
        client = partial(services.github.in_repository, installation)
        try:
            # It is not worth a request for the file each time.
            config = services.repository_settings.last_or_present(client, known.summary)
            if config.mode == "off":
                return
            suggests = config.suggest_closing or config.label == "suggest"
            ReactionPoll(
                client(known.id), services.store, known.id, known.ref, now, allowance, suggests=suggests
            ).look()
        except Retryable as limit:
            logger.warning("%s: no more reactions are read in this turn: %s", known.ref, limit)
            allowance.requests = 0
        except GitHubError as refusal:
            logger.warning("%s: its reactions cannot be read: %s", known.ref, refusal)
        if recalibrate(services.store, known.id, now):
            logger.info("%s: what people said has moved the threshold", known.ref)

    in_each(ours[first:] + ours[:first], services.store, look)
