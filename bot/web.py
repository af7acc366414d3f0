"""The web process: takes GitHub's deliveries, commits them to the queue, and answers. It never calls GitHub.

`bot.web:create_app()` is the WSGI factory (E2); importing this module does nothing.
"""

from __future__ import annotations

import logging

from flask import Blueprint, Flask, Response, current_app, jsonify, request
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge

from bot.errors import SettingsError
from bot.events import Ignored
from bot.jobs.inbox import Inbox, debounce
from bot.jobs.job import QueueUnavailable
from bot.metrics import CONTENT_TYPE, exposition
from bot.settings import Settings, load
from bot.tally import Tally
from bot.webhook import LARGEST_PAYLOAD, Accepted, Ping, Refused, read

log = logging.getLogger(__name__)

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Doppel</title>
<p><b>Doppel</b> is a GitHub App that shows, in one calm comment, where a new issue was reported before.
<p>This is its receiver. GitHub delivers to <code>POST /webhook</code>; <a href="/healthz">/healthz</a> and
<a href="/readyz">/readyz</a> tell how it is.
</html>
"""

routes = Blueprint("receiver", __name__)


def create_app(settings: Settings | None = None) -> Flask:
    """The Flask application, with the settings given or those of the environment.

    Raises SettingsError without a webhook secret: unsigned deliveries are never accepted. A database that is away does
    not keep it from starting; deliveries are then answered with 503 until it is back.
    """
    settings = settings or load()
    if not settings.webhook_secrets:
        raise SettingsError(
            "WEBHOOK_SECRET: not set. Enter the secret of the App's webhook; without it nobody could tell GitHub's "
            "deliveries from forged ones (docs/config.md)."
        )
    app = Flask("doppel", static_folder=None)
    # Werkzeug refuses a longer body by its Content-Length before reading it, and cuts a chunked one off at this size,
    # silently: with one byte more than allowed, `read` can tell.
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_PAYLOAD + 1
    app.extensions["doppel"] = _Receiver(settings)
    app.register_blueprint(routes)
    app.register_error_handler(HTTPException, _http_error)
    return app


class _Receiver:
    """What the routes work with."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.inbox = Inbox(settings)
        self.tally = Tally(settings)
        try:
            self.inbox.check()
        except QueueUnavailable as problem:
            log.warning("starting without the queue: %s", problem)

    def take(self, delivery: Accepted) -> dict[str, str]:
        """Do what the delivery needs before it is acknowledged; says what that was. Raises QueueUnavailable."""
        match delivery.content:
            case Ping():
                return {"status": "pong"}
            case Ignored(reason, unknown):
                if unknown:
                    self.tally.count(f"unknown event {delivery.name}")
                return {"status": "ignored", "reason": reason}
            case event:
                delay = debounce(event, self.settings.debounce_seconds)
                new = self.inbox.put(delivery.delivery_id, event, delay)
                return {"status": "queued"} if new else {"status": "known", "reason": "this delivery was taken before"}


@routes.post("/webhook")
def webhook() -> tuple[Response, int]:
    """Take a delivery: 202 once it is committed to the queue, or needs no work."""
    receiver = _receiver()
    match read(dict(request.headers), request.get_data(cache=False), receiver.settings.webhook_secrets):
        case Refused(status, reason):
            log.info("refused a delivery: %d %s", status, reason)
            return jsonify(error=reason), status
        case delivery:
            outcome = receiver.take(delivery)
            log.info("delivery %s (%s): %s", delivery.delivery_id, delivery.name, outcome["status"])
            return jsonify(delivery=delivery.delivery_id, **outcome), 202


@routes.get("/")
def index() -> Response:
    """Say what this is, to a person who opens the address."""
    return Response(_PAGE, mimetype="text/html")


@routes.get("/healthz")
def healthz() -> Response:
    """The process lives."""
    return jsonify(status="alive")


@routes.get("/readyz")
def readyz() -> Response:
    """It can take deliveries: the queue's database answers and is writable."""
    _receiver().inbox.check()
    return jsonify(status="ready")


@routes.get("/metrics")
def metrics() -> Response | tuple[Response, int]:
    """What was counted, for Prometheus: numbers alone, nothing of any repository."""
    counters = _receiver().tally.all()
    if counters is None:
        return jsonify(error="the database cannot be read"), 503
    return Response(exposition(counters), content_type=CONTENT_TYPE)


@routes.errorhandler(QueueUnavailable)
def _unavailable(problem: QueueUnavailable) -> tuple[Response, int]:
    """GitHub shows the failed delivery, and it can be redelivered."""
    log.warning("%s: %s", request.path, problem)
    return jsonify(error=str(problem)), 503


def _http_error(problem: HTTPException) -> tuple[Response, int]:
    """Werkzeug's own errors as JSON; what a client sent is not repeated."""
    status = problem.code or 500
    if isinstance(problem, RequestEntityTooLarge):
        return jsonify(error="the payload is larger than 25 MB"), status
    return jsonify(error=problem.name), status


def _receiver() -> _Receiver:
    receiver: _Receiver = current_app.extensions["doppel"]
    return receiver
