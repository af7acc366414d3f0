"""Fetches deliveries from a channel (`WEBHOOK_PROXY_URL`), for hosts that GitHub cannot reach (`doppel proxy`).

GitHub delivers to the channel; this module subscribes to it and posts each delivery to the bot (the receiver). The
channel sends Server-Sent Events, each with a JSON object: the request's headers in lower case, its `body`, `query` and
`timestamp`. The receiver checks the signature as always, so a channel can withhold or repeat deliveries, but not forge
them. If a channel repeats a delivery under another event's name, `bot.deliveries.payloads` refuses the delivery.

The signature covers GitHub's bytes, but smee.io passes on a parsed body. GitHub sends compact JSON, so its bytes can
usually be rebuilt (`bodies`). Newer channels pass on raw bytes: `rawdata` (smee), `bodyB` (gosmee).
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import requests
from httpx_sse import EventSource, connect_sse

from bot.deliveries.webhook import LARGEST_PAYLOAD, is_signed
from bot.domain.errors import Unavailable
from bot.platform.logs import OFTEN

log = logging.getLogger(__name__)

EVENTS = "text/event-stream"
# smee.io sends a ping every 30 seconds; a connection that misses two pings is dead.
SILENCE_SECONDS = 75.0
CONNECT_SECONDS = 10.0
# GitHub itself waits this long for a receiver.
ANSWER_SECONDS = 10.0
# Seconds before connecting again: after a connection that was open, and after an attempt that the channel refused.
WAIT, WAIT_IF_REFUSED = 1.0, 5.0
# How many times, a second apart, to offer a delivery to a receiver that does not answer.
TRIES = 10
# Bytes: room for a payload and its headers. A payload that comes as a list of numbers takes four times its size.
LONGEST_EVENT = 5 * LARGEST_PAYLOAD

# One escape in JSON. In `\\u001b` (two backslashes), the escape is `\\`, and `u001b` is plain text.
_ESCAPE = re.compile(r"\\(?:u[0-9a-f]{4}|.)")
# The headers that the receiver reads. Other headers may come from a stranger and are not passed on.
_HEADER = re.compile(r"content-type|user-agent|x-hub-signature-256|x-github-[a-z0-9-]+")


@dataclass(frozen=True, slots=True)
class RelayedDelivery:
    """A delivery from the channel, ready to post to the receiver."""

    headers: Mapping[str, str]
    body: bytes


def forward(channel: str, receiver: str, secrets: Sequence[str], sleep: Callable[[float], None]) -> None:
    """Pass on deliveries from `channel` to `receiver` for ever; reconnects after a wait if the connection is lost.

    `secrets` show which of the possible bodies GitHub signed. Reconnecting is quick, because a delivery that reaches
    the channel while nobody listens is lost.
    """
    opened = threading.Event()
    while True:
        opened.clear()
        try:
            for data in subscribe(channel, opened.set):
                if delivery := read(data, secrets):
                    post(receiver, delivery, sleep)
            log.info("the channel has closed the connection", extra=OFTEN)
        except (httpx.HTTPError, Unavailable) as failure:
            # The error's own text contains the channel's address, and anybody who knows the address can listen.
            log.warning("the channel does not answer: %s", _reason(failure), extra=OFTEN)
        sleep(WAIT if opened.is_set() else WAIT_IF_REFUSED)


def subscribe(channel: str, opened: Callable[[], None]) -> Iterator[str]:
    """The data of the channel's messages, as long as the connection lasts; calls `opened` once connected.

    Raises HTTPError, Unavailable. Follows no redirect, which could lead to an address that only this machine can reach.
    """
    timeout = httpx.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS)
    with httpx.Client(timeout=timeout) as client, connect_sse(client, "GET", channel) as source:
        answer = source.response
        kind = answer.headers.get("Content-Type", "").partition(";")[0]
        if answer.status_code != 200 or kind != EVENTS:
            raise Unavailable(f"status {answer.status_code}, {kind or 'no content type'}")
        log.info("listening to the channel", extra=OFTEN)
        opened()
        yield from messages(answer.iter_bytes())


def messages(chunks: Iterable[bytes]) -> Iterator[str]:
    """The data of a stream's unnamed events; pings have a name. Raises Unavailable for an event over LONGEST_EVENT."""
    size = 0

    def bounded() -> Iterator[bytes]:
        nonlocal size
        for chunk in chunks:
            size += len(chunk)
            if size > LONGEST_EVENT:
                raise Unavailable("an event is longer than any delivery")
            yield chunk

    for event in EventSource(httpx.Response(200, headers={"Content-Type": EVENTS}, content=bounded())).iter_sse():
        size = 0
        if event.event == "message":  # The name that SSE gives unnamed events.
            yield event.data


def read(data: str, secrets: Sequence[str]) -> RelayedDelivery | None:
    """The delivery in a message, or None. Its body is the one GitHub signed, else the likeliest."""
    try:
        message = json.loads(data)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        log.warning("the channel sent something that is no delivery")
        return None
    headers = {
        name: value
        for name, value in message.items()
        if isinstance(value, str) and value.isascii() and value.isprintable() and _HEADER.fullmatch(name)
    }
    possible = list(bodies(message))
    if "x-github-event" not in headers or not possible:
        return None
    signature = headers.get("x-hub-signature-256", "")
    signed = (body for body in possible if is_signed(signature, body, secrets))
    return RelayedDelivery(headers, next(signed, possible[0]))


def bodies(message: Mapping[str, Any]) -> Iterator[bytes]:
    """The possible bodies, the likeliest first: the raw bytes if the channel sends them, then the rebuilt body.

    GitHub escapes control characters in upper case (`\\u001B`), JavaScript and Python in lower case. A body with a
    number that JavaScript cannot hold, or with `1.0`, cannot be rebuilt.
    """
    raw = message.get("rawdata")
    if isinstance(raw, dict) and isinstance(raw.get("data"), list):
        # A Node.js Buffer as JSON.
        raw = raw["data"]
        if all(isinstance(byte, int) and 0 <= byte < 256 for byte in raw):
            yield bytes(raw)
    elif isinstance(raw, str):
        yield raw.encode("utf-8", "backslashreplace")
    if isinstance(message.get("bodyB"), str):
        try:
            yield base64.b64decode(message["bodyB"], validate=True)
        except (binascii.Error, ValueError):
            log.warning("the channel sent a body that is not base64")
    if isinstance(message.get("body"), dict):
        text = json.dumps(message["body"], ensure_ascii=False, separators=(",", ":"))
        upper_case = _ESCAPE.sub(lambda escape: escape[0][:2] + escape[0][2:].upper(), text)
        # Half a surrogate pair stays an escape, as in JavaScript.
        yield from (body.encode("utf-8", "backslashreplace") for body in (text, upper_case))


def post(receiver: str, delivery: RelayedDelivery, sleep: Callable[[float], None]) -> bool:
    """Post a delivery and log the answer; returns whether the receiver took it. Retries after a 503 or no answer."""
    name, outcome = delivery.headers.get("x-github-delivery", "without an id"), ""
    for _ in range(TRIES):
        try:
            with requests.Session() as session:
                # Ignore the host's proxy variables: the receiver runs on this host.
                session.trust_env = False
                session.headers.update(delivery.headers)
                answer = session.post(receiver, delivery.body, timeout=ANSWER_SECONDS, allow_redirects=False)
        except requests.RequestException as problem:
            outcome = _reason(problem)
        else:
            outcome = str(answer.status_code)
            if answer.status_code != 503:
                break
        sleep(1.0)
    if outcome == "401":
        log.warning("delivery %s was refused: the channel changed its body, or the secret is wrong", name)
    elif outcome == "202":
        log.info("delivery %s was passed on", name)
    else:
        log.warning("delivery %s was not taken by the receiver (%s)", name, outcome)
    return outcome == "202"


def _reason(problem: Exception) -> str:
    return str(problem) if isinstance(problem, Unavailable) else type(problem).__name__
