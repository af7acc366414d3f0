"""Deliveries through a channel (`WEBHOOK_PROXY_URL`), for hosts that GitHub cannot reach.

GitHub delivers to the channel's address; this subscribes to it and posts each delivery to the receiver. The channel
speaks Server-Sent Events, each with a JSON object: the request's headers in lower case, its `body`, `query` and
`timestamp`. The receiver judges the signature as always, so a channel can withhold deliveries and repeat them, under
another event's name too (`bot.events.parse` refuses those), but forge none.

The signature is over the bytes that GitHub sent, but smee.io passes on a parsed body. What GitHub sends is compact
JSON, so that it can as a rule be written again byte by byte (`bodies`); where the channel passes on the raw bytes, as
newer servers do (`rawdata` of smee's own, `bodyB` of gosmee's), those are taken.
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import requests
from httpx_sse import EventSource, connect_sse

from bot.errors import Unavailable
from bot.receiver.webhook import LARGEST_PAYLOAD, is_signed

log = logging.getLogger(__name__)

EVENTS = "text/event-stream"
# smee.io sends a ping every 30 seconds; a connection that is silent for longer than two of them is dead.
SILENCE_SECONDS = 75.0
CONNECT_SECONDS = 10.0
# As long as GitHub waits for a receiver.
ANSWER_SECONDS = 10.0
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
# Seconds of a connection after which the channel counts as well, though it may have been quiet.
LIVED = 10.0
# How often, a second apart, a delivery is offered to a receiver that is away.
TRIES = 10
# A payload and its headers; raw bytes can come as a list of numbers, which takes four times their size.
LONGEST_EVENT = 5 * LARGEST_PAYLOAD

# Every escape is looked at, so that an escaped backslash before a "u001b" is not taken for the beginning of one.
_ESCAPE = re.compile(r"\\(?:u[0-9a-f]{4}|.)")
# What GitHub signs and what the receiver reads; nothing else of a stranger's request is passed on.
_HEADER = re.compile(r"content-type|user-agent|x-hub-signature-256|x-github-[a-z0-9-]+")


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivery as it is posted to the receiver."""

    headers: Mapping[str, str]
    body: bytes


def forward(
    channel: str,
    receiver: str,
    secrets: Sequence[str],
    sleep: Callable[[float], None],
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Pass on what comes through `channel` to `receiver`, for ever; a lost connection is made again, with waits.

    `secrets` tell which of the possible bodies is the one that GitHub signed. The waits grow only where the channel
    does not answer or hangs up at once: what it takes while nobody listens is lost, and GitHub told that it arrived.
    """
    wait, opened = FIRST_WAIT, math.inf

    def open_now() -> None:
        nonlocal opened
        opened = clock()

    while True:
        problem: Exception | None = None
        opened = math.inf
        try:
            for data in subscribe(channel, open_now):
                wait = FIRST_WAIT
                if delivery := read(data, secrets):
                    post(receiver, delivery, sleep)
        except (httpx.HTTPError, Unavailable) as failure:
            problem = failure
        if clock() - opened >= LIVED:
            wait = FIRST_WAIT
        if problem is None:
            log.info("the channel has closed the connection")
        else:
            # Not the problem's own text, which has the address in it: whoever knows that can listen.
            log.warning("the channel does not answer (%s), again in %.0f s", _kind(problem), wait)
        sleep(wait)
        wait = min(2 * wait, LONGEST_WAIT)


def subscribe(channel: str, opened: Callable[[], None]) -> Iterator[str]:
    """The data of each message of the channel, as long as the connection lasts; `opened` is called when it begins.

    Raises HTTPError, Unavailable. Redirects are not followed: they could lead to places that only this machine
    can reach.
    """
    timeout = httpx.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS)
    with httpx.Client(timeout=timeout) as client, connect_sse(client, "GET", channel) as source:
        answer = source.response
        kind = answer.headers.get("Content-Type", "").partition(";")[0]
        if answer.status_code != 200 or kind != EVENTS:
            raise Unavailable(f"status {answer.status_code}, {kind or 'no content type'}")
        log.info("listening to the channel")
        opened()
        yield from messages(answer.iter_bytes())


def messages(chunks: Iterable[bytes]) -> Iterator[str]:
    """The data of the unnamed events of a stream ("Server-sent events" in the HTML standard); pings are left out.

    Raises Unavailable for an event that is longer than any delivery.
    """
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
        if event.event == "message":
            yield event.data


def read(data: str, secrets: Sequence[str]) -> Delivery | None:
    """The delivery in a message; None for what is none.

    Of several possible bodies it has the one that is signed, else the first, which the receiver then refuses.
    """
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
    return Delivery(headers, next(signed, possible[0]))


def bodies(message: Mapping[str, Any]) -> Iterator[bytes]:
    """What GitHub may have sent, the likeliest first: the raw bytes where they are there, else the body written again.

    GitHub writes control characters with capitals (`\\u001B`) where JavaScript and Python do not, as Octokit's
    verification has found. Numbers that JavaScript cannot hold, and a whole number written as `1.0`, are lost.
    """
    raw = message.get("rawdata")
    if isinstance(raw, dict) and isinstance(raw.get("data"), list):
        # A Buffer of Node's, as JSON.
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
        written = _ESCAPE.sub(lambda escape: escape[0][:2] + escape[0][2:].upper(), text)
        # Half of a surrogate pair stays an escape, as JavaScript writes it.
        yield from (one.encode("utf-8", "backslashreplace") for one in (text, written))


def post(receiver: str, delivery: Delivery, sleep: Callable[[float], None]) -> bool:
    """Hand a delivery to the receiver and log what it said; whether it was taken.

    While the receiver is away, as after a restart, it is tried for some seconds. What is lost then can be redelivered
    on the App's page.
    """
    name = delivery.headers.get("x-github-delivery", "without an id")
    outcome = ""
    for _ in range(TRIES):
        try:
            with requests.Session() as session:
                # A proxy for the way out of this machine is none for the way to its own receiver.
                session.trust_env = False
                answer = session.post(
                    receiver,
                    data=delivery.body,
                    headers=dict(delivery.headers),
                    timeout=ANSWER_SECONDS,
                    allow_redirects=False,
                )
        except requests.RequestException as problem:
            outcome = _kind(problem)
        else:
            outcome = str(answer.status_code)
            if answer.status_code != 503:
                break
        sleep(1.0)
    if outcome == "401":
        log.warning("delivery %s was refused: the channel changed its body, or the secret is another", name)
    elif outcome == "202":
        log.info("delivery %s was passed on", name)
    else:
        log.warning("delivery %s was not taken by the receiver (%s)", name, outcome)
    return outcome == "202"


def _kind(problem: Exception) -> str:
    return str(problem) if isinstance(problem, Unavailable) else type(problem).__name__
