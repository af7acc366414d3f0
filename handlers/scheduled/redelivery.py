"""Asks GitHub to redeliver failed deliveries, because GitHub does not retry by itself.

GitHub's manual ("Handling failed webhook deliveries") describes the method: list the attempts since the last turn, and
ask for each delivery without a successful attempt (status `OK`). A redelivery keeps its `X-GitHub-Delivery`. So if a
delivery arrived and only our response was lost, the queue recognises the redelivery and drops it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass

from bot.domain.errors import Invalid, NotFound
from bot.domain.formats import counted
from bot.github.app import REFUSED_SIGNATURE, DeliveryAttempt
from bot.storage.failed_deliveries import FailedDelivery
from handlers.services import Services

logger = logging.getLogger(__name__)

RECOVER_EVERY = 300.0
"""Seconds between two turns. If no delivery has failed, a turn costs one request of the App's own budget."""

# If a redelivery fails too: the wait in seconds before asking again, its factor for each further try, and its maximum.
FIRST_WAIT, GROWTH, LONGEST_WAIT = 300.0, 4.0, 6 * 3600.0
# The most tries for a delivery that our receiver refused, since it is likely to refuse the same payload again.
MAX_TRIES_IF_REFUSED = 2
# The most redeliveries to ask for in one turn; after a long outage the next turns continue. GitHub allows an App 5,000
# requests an hour, and 900 points a minute, of which a redelivery costs five. The client spaces out the requests.
MOST_ASKED = 500
# The most attempts to read in one turn, which takes a thousand requests. After a longer outage only the index catches
# up.
MOST_READ = 100_000

_DAY = 86_400.0
# GitHub lists an attempt after its end, but under the time of its start. So each turn reads this many seconds again.
_OVERLAP = 600.0


@dataclass(frozen=True, slots=True)
class SortedAttempts:
    """Deliveries by GUID: the `failed` ones with their last attempt, and the `taken` ones with a successful attempt.

    `lost` are the failed deliveries whose first attempt is in the list. Of other failed deliveries the list has only
    redeliveries.
    """

    failed: dict[str, DeliveryAttempt]
    lost: frozenset[str]
    taken: frozenset[str]


def sort_attempts(attempts: Iterable[DeliveryAttempt]) -> SortedAttempts:
    """Sort attempts, which come newest first, as GitHub lists them. Pure."""
    failed: dict[str, DeliveryAttempt] = {}
    lost, taken = set(), set()
    for attempt in attempts:
        if attempt.taken:
            taken.add(attempt.guid)
        else:
            failed.setdefault(attempt.guid, attempt)
            if not attempt.redelivery:
                lost.add(attempt.guid)
    failed = {guid: attempt for guid, attempt in failed.items() if guid not in taken}
    return SortedAttempts(failed, frozenset(lost & failed.keys()), frozenset(taken))


def due(missed: Iterable[FailedDelivery], now: float) -> list[FailedDelivery]:
    """The deliveries to ask for now, oldest first. Pure; `now` is in seconds since 1970."""
    due_now = (delivery for delivery in missed if _is_due(delivery, now))
    return sorted(due_now, key=lambda delivery: (delivery.failed_at, delivery.guid))


def _is_due(delivery: FailedDelivery, now: float) -> bool:
    # Keep trying after a refused signature: the host may correct a wrong secret a day later.
    refused = 400 <= delivery.status_code < 500 and delivery.status_code != REFUSED_SIGNATURE
    if refused and delivery.asked >= MAX_TRIES_IF_REFUSED:
        return False
    if delivery.asked == 0:
        return True
    wait = min(LONGEST_WAIT, FIRST_WAIT * GROWTH ** (delivery.asked - 1))
    # If `asked_at` is in the future, the clock was set back: do not wait.
    return not delivery.asked_at <= now < delivery.asked_at + wait


def retention_seconds(enterprise: bool) -> float:
    return (7 if enterprise else 3) * _DAY


def recover(services: Services) -> None:
    """Ask GitHub to redeliver failed deliveries. Raises RateLimited, Unavailable and Forbidden."""
    app, missed, now = services.github.app(), services.store.failed_deliveries, services.now()
    oldest = now - retention_seconds(services.settings.enterprise)
    since = max(oldest, (missed.read_until() or 0.0) - _OVERLAP)
    attempts: list[DeliveryAttempt] = []
    for attempt in app.deliveries(most=MOST_READ):
        if attempt.delivered_at.timestamp() < since:
            break
        attempts.append(attempt)
    sorted_attempts = sort_attempts(attempts)
    failed = [
        FailedDelivery(guid, attempt.id, attempt.delivered_at.timestamp(), attempt.status_code)
        for guid, attempt in sorted_attempts.failed.items()
    ]
    read_until = attempts[0].delivered_at.timestamp() if attempts else None
    missed.note(failed, sorted_attempts.lost, sorted_attempts.taken, read_until=read_until, oldest=oldest)
    asked = 0
    for delivery in due(missed.all(), now)[:MOST_ASKED]:
        try:
            app.redeliver(delivery.delivery_id)
        except (NotFound, Invalid) as refusal:
            logger.warning("delivery %s cannot be had again: %s", delivery.guid, refusal)
            missed.remove(delivery.guid)
            continue
        missed.asked(delivery.guid, services.now())
        asked += 1
    if asked:
        logger.info("asked GitHub for %s once more", counted(asked, "delivery", "deliveries"))
