"""Deliveries that come later than what happened after them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

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
