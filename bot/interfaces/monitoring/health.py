"""`/healthz`, `/readyz` and `/metrics`, for operators.

The three addresses are on the public port, since many hosts open only one port. They show numbers and states, and
nothing about single repositories. If `DOPPEL_METRICS_TOKEN` is set, `/metrics` needs that token.
"""

from __future__ import annotations

import hmac
import logging
import time
from collections.abc import Mapping

import sqlalchemy as sa
from flask import Blueprint, Response, current_app, jsonify, request

from bot.deliveries.database import QueueUnavailable, queue_engine
from bot.deliveries.inbox import Inbox
from bot.deliveries.queue import LEASE
from bot.interfaces.monitoring.exposition import heartbeats, page
from bot.platform.settings import Settings
from bot.quality.illness import Illness, count_by_illness, illnesses
from bot.storage import Store
from bot.storage.engine import make_engine
from bot.storage.failures import why
from bot.storage.schema import repositories

log = logging.getLogger(__name__)

routes = Blueprint("health", __name__)

# Seconds that a database may take to answer; the check by `Inbox` has its own limit.
_PATIENCE = 1.0
_READY = "ready"


class HealthChecks:
    """The checks of `/readyz`, `/metrics` and the dashboard's health page. Thread safe. `__init__` does not connect."""

    def __init__(self, settings: Settings, inbox: Inbox) -> None:
        self._store = make_engine(
            settings.database_url, patience=_PATIENCE, pool_size=2, connect_timeout=1, synchronous="NORMAL"
        )
        self.token = settings.metrics_token
        self._inbox = inbox
        self._paused = settings.paused
        self._queue = queue_engine(settings, patience=_PATIENCE, pool_size=2)
        self._embedding_model = settings.embedding_model

    def parts(self) -> tuple[bool, dict[str, str]]:
        """Whether the process can accept deliveries (only the queue matters for this), and the state of each part."""
        queue = _READY
        try:
            self._inbox.check()
        except QueueUnavailable as problem:
            queue = str(problem)
        return queue == _READY, {"queue": queue, "store": self._state_of_store(), "worker": self._worker()}

    def ill(self) -> Mapping[int, Illness]:
        """The repositories where the bot fails, and why; none on a paused host. Raises the errors of `illnesses`."""
        return {} if self._paused else illnesses(Store(self._store), self._queue, time.time())

    def metrics(self, accept: str) -> tuple[bytes, str]:
        return page(self._store, self._queue, self.ill(), self._embedding_model, accept)

    def _state_of_store(self) -> str:
        try:
            with self._store.connect() as connection:
                connection.execute(sa.select(repositories.c.repo_id).limit(1)).first()
        except (sa.exc.SQLAlchemyError, OSError) as problem:
            return f"the database failed: {why(problem)}"
        return _READY

    def _worker(self) -> str:
        try:
            ages = heartbeats(self._queue)
        except QueueUnavailable:
            return "unknown"
        if not ages:
            return "none is running"
        state = _READY if min(ages) <= LEASE else "silent"
        return f"{state}, last heard of {max(0.0, min(ages)):.0f} s ago"


@routes.get("/healthz")
def healthz() -> Response:
    return jsonify(status="alive")


@routes.get("/readyz")
def readyz() -> tuple[Response, int]:
    """Whether the process can accept deliveries, and each part's state. `?deep` also counts the ill repositories."""
    ready, parts = _health().parts()
    if not ready:
        log.warning("not ready: %s", parts["queue"])
        return jsonify(status="not ready", parts=parts), 503
    if "deep" not in request.args:
        return jsonify(status=_READY, parts=parts), 200
    try:
        ill = _health().ill()
    except (sa.exc.SQLAlchemyError, QueueUnavailable, OSError) as problem:
        return jsonify(status=f"unknown: {why(problem)}", parts=parts), 503
    status, code = ("ill", 503) if ill else (_READY, 200)
    return jsonify(status=status, parts=parts, repositories=count_by_illness(ill)), code


@routes.get("/metrics")
def metrics() -> Response | tuple[Response, int]:
    health = _health()
    authorization = request.headers.get("Authorization", "").encode("utf-8", "replace")
    if health.token and not hmac.compare_digest(authorization, f"Bearer {health.token}".encode()):
        refusal = jsonify(error="the bearer token of DOPPEL_METRICS_TOKEN is needed")
        refusal.headers["WWW-Authenticate"] = "Bearer"
        return refusal, 401
    try:
        text, content_type = health.metrics(request.headers.get("Accept", ""))
    except (sa.exc.SQLAlchemyError, QueueUnavailable, OSError) as problem:
        log.warning("the metrics cannot be read: %s", why(problem))
        return jsonify(error="the database cannot be read"), 503
    return Response(text, content_type=content_type)


def _health() -> HealthChecks:
    health: HealthChecks = current_app.extensions["doppel.health"]
    return health
