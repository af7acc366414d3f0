"""Asks GitHub to redeliver failed deliveries, which it does not repeat by itself.

GitHub's manual says how ("Handling failed webhook deliveries"): list the attempts since the last time, and ask for
those without the status `OK` and without a later attempt that was taken. A redelivery keeps its `X-GitHub-Delivery`, so
the queue recognises one whose answer alone was lost.
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
"""Seconds between two turns. If nothing has failed, each takes one request of the App's own budget."""

# Seconds before the next request for a redelivery that failed as well, and how they grow.
FIRST_WAIT, GROWTH, LONGEST_WAIT = 300.0, 4.0, 6 * 3600.0
# How often to ask for a delivery that our receiver refused, since a payload does not change.
MOST_OF_REFUSED = 2
# Redeliveries to ask for in one turn; after a long outage the next turns go on. GitHub allows an App 5,000 requests an
# hour, and five points each of 900 a minute: the client paces them.
MOST_ASKED = 500
# Attempts to read in one turn, which takes a thousand requests. After a longer outage only the index catches up.
MOST_READ = 100_000

_DAY = 86_400.0
# GitHub lists an attempt under the time of its start, perhaps only after its end.
_OVERLAP = 600.0


@dataclass(frozen=True, slots=True)
class Findings:
    """A list of attempts by GUID: the last attempt of each delivery that was not taken, and those that were taken.

    `lost` are the failed ones whose first attempt is in the list; of the others it has only redeliveries.
    """

    failed: dict[str, DeliveryAttempt]
    lost: frozenset[str]
    taken: frozenset[str]


def judge(attempts: Iterable[DeliveryAttempt]) -> Findings:
    """Sort attempts, given newest first as GitHub lists them. Pure."""
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
    return Findings(failed, frozenset(lost & failed.keys()), frozenset(taken))


def due(missed: Iterable[FailedDelivery], now: float) -> list[FailedDelivery]:
    """The deliveries to ask for now, the oldest first. Pure; `now` in seconds since 1970."""
    return sorted((one for one in missed if _is_due(one, now)), key=lambda one: (one.failed_at, one.guid))


def _is_due(one: FailedDelivery, now: float) -> bool:
    # Somebody may correct a wrong secret, perhaps a day later.
    refused = 400 <= one.status_code < 500 and one.status_code != REFUSED_SIGNATURE
    if refused and one.asked >= MOST_OF_REFUSED:
        return False
    if one.asked == 0:
        return True
    wait = min(LONGEST_WAIT, FIRST_WAIT * GROWTH ** (one.asked - 1))
    # A time ahead of ours is from before the clock was set back.
    return not one.asked_at <= now < one.asked_at + wait


def kept_for(enterprise: bool) -> float:
    """For how many seconds GitHub keeps its deliveries."""
    return (7 if enterprise else 3) * _DAY


def recover(services: Services) -> None:
    """Ask GitHub to redeliver what was not taken. Raises RateLimited, Unavailable and Forbidden."""
    app, missed, now = services.github.app(), services.store.failed_deliveries, services.now()
    oldest = now - kept_for(services.settings.enterprise)
    since = max(oldest, (missed.read_until() or 0.0) - _OVERLAP)
    attempts: list[DeliveryAttempt] = []
    for attempt in app.deliveries(most=MOST_READ):
        if attempt.delivered_at.timestamp() < since:
            break
        attempts.append(attempt)
    found = judge(attempts)
    failed = [
        FailedDelivery(guid, attempt.id, attempt.delivered_at.timestamp(), attempt.status_code)
        for guid, attempt in found.failed.items()
    ]
    read_until = attempts[0].delivered_at.timestamp() if attempts else None
    missed.note(failed, found.lost, found.taken, read_until=read_until, oldest=oldest)
    asked = 0
    for one in due(missed.all(), now)[:MOST_ASKED]:
        try:
            app.redeliver(one.delivery_id)
        except (NotFound, Invalid) as refusal:
            logger.warning("delivery %s cannot be had again: %s", one.guid, refusal)
            missed.remove(one.guid)
            continue
        missed.asked(one.guid, services.now())
        asked += 1
    if asked:
        logger.info("asked GitHub for %s once more", counted(asked, "delivery", "deliveries"))
