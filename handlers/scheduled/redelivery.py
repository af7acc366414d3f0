"""Asks GitHub to redeliver failed deliveries, because GitHub does not retry by itself.

GitHub's manual ("Handling failed webhook deliveries") describes the method: list the attempts since the last turn, and
request a redelivery of each delivery without a successful attempt (status `OK`). A redelivery keeps its
`X-GitHub-Delivery`. So if only our response was lost, the queue recognises the delivery and drops the redelivery.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile

from bot.domain.errors import Invalid, NotFound
from bot.domain.formats import counted
from bot.github.app import REFUSED_SIGNATURE, DeliveryAttempt
from handlers.services import Services

logger = logging.getLogger(__name__)

RECOVER_EVERY = 300.0
"""Seconds between two turns. If no delivery has failed, a turn costs one request of the App's own budget."""

# Backoff after a failed redelivery: first wait (seconds), factor per try, longest wait (seconds).
FIRST_WAIT, GROWTH, LONGEST_WAIT = 300.0, 4.0, 6 * 3600.0
# The most tries for a delivery that our receiver refused, since it is likely to refuse the same payload again.
MAX_TRIES_IF_REFUSED = 2
# The most redeliveries to ask for in one turn; after a long outage the next turns continue. GitHub allows an App 5,000
# requests an hour, and 900 points a minute, of which a redelivery costs five. The client spaces out the requests.
MOST_ASKED = 500
# The most attempts to read in one turn, newest first: a thousand requests. Older failed deliveries
# get lost. The index reads their issues later, but the bot does not act on the deliveries.
MOST_READ = 100_000

_DAY = 86_400.0
# GitHub lists an attempt after it ends, with the time when it began. So turns reread this many seconds of the list.
_OVERLAP = 600.0


@dataclass(slots=True)
class FailedDelivery:
    """A failed delivery. `failed_at` is the time of its first attempt (seconds since 1970).

    `attempt_id` and `status_code` are the last attempt's; `status_code` is 0 if nobody answered.
    `asked` counts the requests to redeliver, and `asked_at` is the time of the last request.
    `redeliveries` counts the attempts after the first on GitHub's list. If `gone`, GitHub cannot redeliver.
    """

    guid: str
    attempt_id: int
    failed_at: float
    status_code: int
    asked: int = 0
    asked_at: float = 0.0
    redeliveries: int = 0
    gone: bool = False


def due(failed: Iterable[FailedDelivery], now: float) -> list[FailedDelivery]:
    """The deliveries to ask for now, oldest first. Pure; `now` is in seconds since 1970."""
    due_now = (delivery for delivery in failed if not delivery.gone and _is_due(delivery, now))
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
    return now < delivery.asked_at or now >= delivery.asked_at + wait


class FailedDeliveries:
    """The failed deliveries on GitHub's list, as one worker knows them.

    A new worker reads the list from the oldest failed attempt on. Most hosts have no failed attempt.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._read_until = 0.0
        self.failed: dict[str, FailedDelivery] = {}

    def recover(self) -> None:
        """Ask GitHub to redeliver failed deliveries. Raises RateLimited, Unavailable and Forbidden."""
        app, now = self._services.github.app(), self._services.now()
        # GitHub lists attempts for three days, an Enterprise Server for seven.
        oldest = now - _DAY * (7 if self._services.settings.enterprise else 3)
        if not self._read_until:
            failures = [attempt.delivered_at.timestamp() for attempt in app.deliveries(failed=True, most=MOST_READ)]
            self._read_until = min(failures, default=now)
        since = max(oldest, self._read_until - _OVERLAP)
        listed = app.deliveries(most=MOST_READ)
        attempts = list(takewhile(lambda attempt: attempt.delivered_at.timestamp() >= since, listed))
        for attempt in reversed(attempts):
            self._note(attempt)
        if attempts:
            self._read_until = attempts[0].delivered_at.timestamp()
        self.failed = {guid: delivery for guid, delivery in self.failed.items() if delivery.failed_at >= oldest}
        asked_now = 0
        for delivery in due(self.failed.values(), now)[:MOST_ASKED]:
            try:
                app.redeliver(delivery.attempt_id)
            except (NotFound, Invalid) as refusal:
                logger.warning("GitHub cannot redeliver %s: %s", delivery.guid, refusal)
                delivery.gone = True
                continue
            asked_now += 1
            delivery.asked, delivery.asked_at = delivery.asked + 1, self._services.now()
        if asked_now:
            logger.info("asked GitHub for %s once more", counted(asked_now, "delivery", "deliveries"))

    def _note(self, attempt: DeliveryAttempt) -> None:
        """Note an attempt. A delivery's attempts come in order, but turns overlap, so an attempt may come again."""
        guid, at, known = attempt.guid, attempt.delivered_at.timestamp(), self.failed.get(attempt.guid)
        if attempt.taken:  # GitHub calls the attempt a success.
            self.failed.pop(guid, None)
        # Ignore redeliveries of unknown deliveries: those have succeeded, or are too old.
        elif known is None and not attempt.redelivery:
            self.failed[guid] = FailedDelivery(guid, attempt.id, at, attempt.status_code)
        elif known is not None and attempt.id > known.attempt_id:
            known.attempt_id, known.status_code = attempt.id, attempt.status_code
            # Another worker, or a person, may have asked for this redelivery. Count that request, too.
            known.redeliveries += 1
            known.asked, known.asked_at = max(known.asked, known.redeliveries), max(known.asked_at, at)
