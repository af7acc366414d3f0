"""Reads a webhook: headers and raw bytes in, an event or a refusal out. Also limits the bodies that a process reads.

GitHub's manual has the rules ("Validating webhook deliveries", "Webhook events and payloads").
Only the length is checked before the signature: no unsigned request is parsed, not even a ping.
"""

from __future__ import annotations

import hmac
import json
import logging
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import parse_qs

from flask import Flask, request
from gunicorn.http.errors import ParseException
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge, ServiceUnavailable

from bot.deliveries.events import Event, Ignored
from bot.deliveries.payloads import MalformedPayload, parse
from bot.platform.logs import OFTEN

# GitHub sends no larger payload (25 MB, "Webhook events and payloads").
LARGEST_PAYLOAD = 25 * 1024 * 1024

_JSON = "application/json"
_FORM = "application/x-www-form-urlencoded"
# GitHub does not sign the delivery's id, so a stranger may have chosen the id. The queue keeps one job per id. Only
# GUIDs are accepted. The ids of the bot's own jobs are no GUIDs, so no delivery can take the place of such a job.
_GUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_EVENT_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")


@dataclass(frozen=True, slots=True)
class Ping:
    """GitHub's test of a new webhook."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A genuine delivery. `name` is `X-GitHub-Event`."""

    delivery_id: str
    name: str
    content: Event | Ignored | Ping


@dataclass(frozen=True, slots=True)
class Refused:
    """A refused request. `status` is the HTTP status of the answer, `reason` is for the sender."""

    status: int
    reason: str


def read(headers: Mapping[str, str], body: bytes, secrets: Sequence[str]) -> Accepted | Refused:
    """Check and parse one request. `secrets` are the current webhook secret and, during a rotation, the previous one.

    Never raises. Refuses a request with 413 if it is too large, 401 if it is not signed with one of the secrets, 415 if
    it is neither JSON nor a form, and 400 for anything else that GitHub would not send.
    """
    named = {name.lower(): value for name, value in headers.items()}
    if len(body) > LARGEST_PAYLOAD:
        return Refused(413, "the payload is larger than 25 MB")
    if not is_signed(named.get("x-hub-signature-256", ""), body, secrets):
        return Refused(401, "X-Hub-Signature-256 is missing or does not match the webhook secret")
    delivery_id, name = named.get("x-github-delivery", "").lower(), named.get("x-github-event", "")
    if not _GUID.fullmatch(delivery_id):
        return Refused(400, "X-GitHub-Delivery is missing or no GUID (a GUID: 72d3162e-cc78-11e3-81ab-4c9367dc0958)")
    if not _EVENT_NAME.fullmatch(name):
        return Refused(400, "X-GitHub-Event is missing or no event name")
    content_type = named.get("content-type", "").partition(";")[0].strip().lower()
    if content_type not in (_JSON, _FORM):
        return Refused(415, f"the content type must be {_JSON} or {_FORM}")
    try:
        text = body.decode("utf-8")
        if content_type == _FORM:
            fields = parse_qs(text, keep_blank_values=True, errors="strict", max_num_fields=16)
            text = fields.get("payload", [""])[0]
        payload = json.loads(text)
        content = Ping() if name == "ping" else parse(name, payload)
    except MalformedPayload as problem:
        return Refused(400, str(problem)[:300])
    except (ValueError, RecursionError):
        return Refused(400, "the payload is not JSON, or nested too deeply")
    return Accepted(delivery_id, name, content)


def is_signed(signature: str, body: bytes, secrets: Sequence[str]) -> bool:
    """Whether `signature` (`sha256=` and hex digits) is the HMAC of the body under one of the secrets.

    Compares in constant time, and with every secret, so that the time reveals nothing about signature or secrets.
    """
    received = signature.encode("utf-8", "replace")
    matches = [hmac.compare_digest(received, sign(secret, body).encode()) for secret in secrets if secret]
    return any(matches)


def sign(secret: str, body: bytes) -> str:
    """The value of `X-Hub-Signature-256` for this body."""
    return f"sha256={hmac.new(secret.encode(), body, 'sha256').hexdigest()}"


log = logging.getLogger(__name__)

# Bytes and fields of the largest form that our pages take. Deliveries have another limit.
LARGEST_FORM = 64 * 1024
MOST_FIELDS = 50
USUAL = 1024 * 1024
"""A body of up to this many bytes needs no slot (`BodySlots`). Most deliveries are far smaller."""

# How many larger bodies, or bodies of unknown length, a process holds at a time.
_LARGE_BODIES = 8
# Seconds to wait for a slot; GitHub waits ten seconds for the answer.
_PATIENCE = 3.0


def limit_forms(app: Flask, *, except_endpoint: str = "") -> None:
    """Limit every request's body to LARGEST_FORM, except at one endpoint, which reads the body itself."""
    app.config["MAX_FORM_PARTS"] = MOST_FIELDS

    @app.before_request
    def read_form() -> None:
        if request.endpoint == except_endpoint:
            return
        body = read_body(LARGEST_FORM, keep=True)
        if len(body) > LARGEST_FORM or body.count(b"&") + 1 > MOST_FIELDS:
            raise RequestEntityTooLarge


def read_body(most: int, *, keep: bool = False) -> bytes:
    """The whole body, or its first `most` + 1 bytes if it is longer. Flask can parse a form only if `keep` is set.

    If the declared length is over `most` + 1 bytes, raises RequestEntityTooLarge before reading. Raises BadRequest for
    malformed chunks, or for a body that is shorter than declared.
    """
    request.max_content_length = most + 1
    try:
        body = request.get_data(cache=keep)
    except (ParseException, OSError) as problem:
        log.info("a request's body cannot be read: %s", type(problem).__name__, extra=OFTEN)
        raise BadRequest from None
    if request.content_length is not None and len(body) < request.content_length:
        raise BadRequest
    return body


class BodySlots:
    """Limits how many large bodies, signed or not, a process holds at a time. Thread safe."""

    def __init__(self, slots: int = _LARGE_BODIES, patience: float = _PATIENCE) -> None:
        self._slots, self._patience = threading.BoundedSemaphore(slots), patience

    @contextmanager
    def take(self, length: int | None) -> Iterator[None]:
        """Hold a slot for a body of this declared length. Raises ServiceUnavailable if no slot becomes free."""
        if length is not None and length <= USUAL:
            yield
            return
        if not self._slots.acquire(timeout=self._patience):
            raise ServiceUnavailable
        try:
            yield
        finally:
            self._slots.release()
