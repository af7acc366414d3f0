"""Bounds how much of a request the web process reads, before anything parses it.

A form's parser would make an object of each of millions of fields. Only the webhook takes larger bodies, and only a
few large ones at a time.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from flask import Flask, request
from gunicorn.http.errors import ParseException
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge, ServiceUnavailable

from bot.telemetry.logs import OFTEN

log = logging.getLogger(__name__)

LARGEST_FORM = 64 * 1024
MOST_FIELDS = 50
USUAL = 1024 * 1024
"""Bytes of a body that needs no slot. GitHub's deliveries are mostly far smaller."""

# Larger bodies, and those of unknown length, that a process holds at a time.
_LARGE_ONES = 8
# Seconds to wait for one of their slots; GitHub waits ten for the answer.
_PATIENCE = 3.0


def bound(app: Flask, *, but: str = "") -> None:
    """Read every request of an application with a form's bounds, except at the endpoint `but`, which reads its own."""
    app.config["MAX_FORM_PARTS"] = MOST_FIELDS

    @app.before_request
    def read_form() -> None:
        if request.endpoint == but:
            return
        body = read_body(LARGEST_FORM, keep=True)
        if len(body) > LARGEST_FORM or body.count(b"&") >= MOST_FIELDS:
            raise RequestEntityTooLarge


def read_body(most: int, *, keep: bool = False) -> bytes:
    """The whole body, or its first `most` bytes and one more. Flask parses it as a form only if `keep` is set.

    Raises RequestEntityTooLarge, before it reads, if the declared length is larger, and BadRequest for malformed chunks
    or a body that is shorter than declared.
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


class Room:
    """Keeps a process from holding too many large bodies at once, signed or not. Thread safe."""

    def __init__(self, places: int = _LARGE_ONES, patience: float = _PATIENCE) -> None:
        self._places, self._patience = threading.BoundedSemaphore(places), patience

    @contextmanager
    def take(self, length: int | None) -> Iterator[None]:
        """Hold a slot for a body of this declared length. Raises ServiceUnavailable if none becomes free."""
        if length is not None and length <= USUAL:
            yield
            return
        if not self._places.acquire(timeout=self._patience):
            raise ServiceUnavailable
        try:
            yield
        finally:
            self._places.release()
