"""Deliveries that come later than what happened after them, or once more."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from bot.simulator.deliveries import Delivery
from tests.e2e.harness import Doppel


@contextmanager
def held_back(doppel: Doppel, event: str = "") -> Iterator[Callable[[], None]]:
    """What happens inside is delivered only when the function is called that this gives; of one event alone, if one is
    named.
    """
    webhooks, held = doppel.sim.webhooks, list[tuple[str, bytes, Mapping[str, str]]]()
    post = webhooks.post

    def hold(url: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, Mapping[str, str], str]:
        if event not in ("", headers["X-GitHub-Event"]):
            return post(url, body, headers)
        held.append((url, body, headers))
        return 202, {}, ""

    def deliver() -> None:
        for delivery in held:
            assert post(*delivery)[0] == 202
        doppel.settle()

    webhooks.post = hold
    try:
        yield deliver
        webhooks.join()
    finally:
        webhooks.post = post


def delivered(doppel: Doppel, action: str, by: str = "reporter") -> Delivery:
    """The last delivery of what a person did; what the bot did by that is delivered too."""
    return next(
        one for one in reversed(doppel.sim.webhooks.log) if (one.action, one.payload["sender"]["login"]) == (action, by)
    )


def deliver_late(doppel: Doppel, delivery: Delivery) -> None:
    """What GitHub could not deliver at its time comes now: under an id that nobody has seen."""
    delivery.guid = str(uuid.uuid4())
    doppel.sim.webhooks.redeliver(delivery)
    doppel.settle()
