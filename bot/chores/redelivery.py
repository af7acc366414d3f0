"""Deliveries that failed are asked for again, since GitHub does not repeat them by itself.

GitHub's manual says how ("Handling failed webhook deliveries"): list the attempts since the last time, and have those
redelivered whose status is not `OK` and of which no later attempt was taken. A redelivery keeps its
`X-GitHub-Delivery`, so that one whose answer alone was lost is a known one to the queue, and is not worked on twice.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass

from bot.counted import counted
from bot.errors import Invalid, NotFound
from bot.github.identity.app import REFUSED_SIGNATURE, Delivery
from bot.services import Services
from bot.store.parts.missed import Missed

logger = logging.getLogger(__name__)

RECOVER_EVERY = 300.0
"""Seconds between two looks. Where nothing has failed, each is one request out of the App's own budget."""

FIRST_WAIT, GROWTH, LONGEST_WAIT = 300.0, 4.0, 6 * 3600.0
"""Seconds before a redelivery that failed as well is asked for again, and how they grow."""

MOST_OF_REFUSED = 2
"""How often a delivery is asked for that our receiver refuses for what it is, since no payload mends itself."""

MOST_ASKED = 500
"""Redeliveries asked for in one look; after a long outage the next looks go on. Twelve looks an hour would be 6,000
requests, of which GitHub allows an App 5,000 an hour and five points each of 900 a minute: the client paces them."""

MOST_READ = 100_000
"""Attempts read in one look: a thousand requests. Of what a longer outage has lost only the index is brought up."""

_DAY = 86_400.0
# An attempt is listed under the time at which it began, perhaps only after it has ended.
_OVERLAP = 600.0


@dataclass(frozen=True, slots=True)
class Findings:
    """What a list of attempts says, by GUID: the last attempt of what nobody has taken, and what was taken.

    `lost` are those among the failed whose first attempt is in the list; of the others only a repetition is.
    """

    failed: dict[str, Delivery]
    lost: frozenset[str]
    taken: frozenset[str]


def judge(attempts: Iterable[Delivery]) -> Findings:
    """Sort attempts, given newest first as GitHub lists them. Pure."""
    failed: dict[str, Delivery] = {}
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


def due(missed: Iterable[Missed], now: float) -> list[Missed]:
    """Those to ask for now, the oldest first. Pure; `now` in seconds since 1970."""
    return sorted((one for one in missed if _is_due(one, now)), key=lambda one: (one.failed_at, one.guid))


def _is_due(one: Missed, now: float) -> bool:
    # Secrets that differ somebody mends, perhaps a day later, and it can be taken.
    refused = 400 <= one.status_code < 500 and one.status_code != REFUSED_SIGNATURE
    if refused and one.asked >= MOST_OF_REFUSED:
        return False
    if one.asked == 0:
        return True
    wait = min(LONGEST_WAIT, FIRST_WAIT * GROWTH ** (one.asked - 1))
    # A time ahead of ours is that of a clock that has been set back since.
    return not one.asked_at <= now < one.asked_at + wait


def kept_for(enterprise: bool) -> float:
    """For how many seconds GitHub lists its deliveries and repeats them on demand."""
    return (7 if enterprise else 3) * _DAY


def recover(services: Services) -> None:
    """Find deliveries that nobody has taken, and ask GitHub for them once more.

    Raises RateLimited, Unavailable and Forbidden; what was found and asked for till then is kept.
    """
    app, missed, now = services.github.app(), services.store.missed, services.now()
    oldest = now - kept_for(services.settings.enterprise)
    since = max(oldest, (missed.read_until() or 0.0) - _OVERLAP)
    attempts: list[Delivery] = []
    for attempt in app.deliveries(most=MOST_READ):
        if attempt.delivered_at.timestamp() < since:
            break
        attempts.append(attempt)
    found = judge(attempts)
    missed.note(
        [_missed(attempt) for attempt in found.failed.values()],
        found.lost,
        found.taken,
        read_until=attempts[0].delivered_at.timestamp() if attempts else None,
        oldest=oldest,
    )
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


def _missed(attempt: Delivery) -> Missed:
    return Missed(attempt.guid, attempt.id, attempt.delivered_at.timestamp(), attempt.status_code)
