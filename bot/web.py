"""The web process: accepts GitHub's deliveries without calling GitHub, commits each to the queue, and answers.

`bot.web:create_app()` is the WSGI factory (E2); importing this module does nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from flask import Blueprint, Flask, Response, abort, current_app, jsonify, redirect, request, url_for
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge

from bot.deliveries.database import QueueUnavailable
from bot.deliveries.events import Ignored, IssueEvent
from bot.deliveries.inbox import Inbox
from bot.deliveries.webhook import LARGEST_PAYLOAD, Accepted, BodySlots, Ping, Refused, limit_forms, read, read_body
from bot.domain.errors import SettingsError
from bot.interfaces.monitoring import health
from bot.platform.logs import OFTEN
from bot.platform.metrics import DELIVERIES
from bot.platform.settings import Settings, load
from bot.platform.settings.loading import credentials_file
from bot.platform.tracing import Work, span, working_on

if TYPE_CHECKING:
    from pathlib import Path
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

log = logging.getLogger(__name__)

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Doppel</title>
<p><b>Doppel</b> is a GitHub App that shows, in one calm comment, where a new issue was reported before.
<p>This is its receiver. GitHub delivers to <code>POST /webhook</code>; <a href="/healthz">/healthz</a> and
<a href="/readyz">/readyz</a> tell how it is.
</html>
"""

_OFF = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>The dashboard is off · Doppel</title>
<p><b>The dashboard is off</b>, since nobody can sign in here.
<p>It is on once <code>GITHUB_CLIENT_ID</code> and <code>GITHUB_CLIENT_SECRET</code> are set beside the App's id and
private key. docs/dashboard.md says where they come from.
</html>
"""

routes = Blueprint("receiver", __name__)
_WEBHOOK = "receiver.webhook"


def create_app(settings: Settings | None = None) -> Flask:
    """Build the Flask application from `settings`, or from the environment.

    Raises SettingsError if no webhook secret is set: unsigned deliveries are never accepted. If no App exists yet but a
    first-run token is set, the application serves only the set-up page. The application also starts while the database
    is unavailable; until the database returns, deliveries are answered with 503.
    """
    settings = settings or load()
    if settings.new and settings.setup_token:
        return _setup_app(settings)
    if not settings.webhook_secrets:
        raise SettingsError(
            "WEBHOOK_SECRET: not set. Enter the secret of the App's webhook; without it nobody could tell GitHub's "
            "deliveries from forged ones (docs/config.md)."
        )
    app = Flask("doppel", static_folder=None)
    limit_forms(app, except_endpoint=_WEBHOOK)
    receiver = app.extensions["doppel"] = _Receiver(settings)
    app.extensions["doppel.health"] = health.HealthChecks(settings, receiver.inbox)
    app.register_blueprint(routes)
    app.register_blueprint(health.routes)
    app.register_error_handler(HTTPException, _http_error)
    _add_pages(app, settings)
    if not _can_sign_in(settings):
        app.add_url_rule("/dashboard", "dashboard_off", _dashboard_off)
    return app


def _setup_app(settings: Settings) -> Flask:
    """The application while no App exists: people are redirected to the set-up page, and GitHub gets 503.

    Once the set-up page has stored the App, each process serves the whole application from its next request on.
    """
    app = Flask("doppel", static_folder=None)
    limit_forms(app)
    app.register_error_handler(HTTPException, _http_error)
    for path in ("/", "/dashboard"):
        app.add_url_rule(path, path, lambda: redirect(url_for("setup.form")))
    app.add_url_rule("/healthz", "healthz", health.healthz)
    for path in ("/readyz", "/webhook"):
        app.add_url_rule(path, path, _not_set_up, methods=["GET", "POST"])
    _add_pages(app, settings)
    app.wsgi_app = _UntilSetUp(app.wsgi_app, credentials_file(settings.home))  # type: ignore[method-assign]
    return app


class _UntilSetUp:
    """Passes requests to the set-up application or, once `file` holds a usable App, to the whole application."""

    def __init__(self, setup: WSGIApplication, file: Path) -> None:
        self._serve, self._file = setup, file
        self._has_app = False

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if not self._has_app and self._file.is_file():
            try:
                settings = load()
                if not settings.new:
                    self._serve, self._has_app = create_app(settings).wsgi_app, True
            except SettingsError as problem:
                log.error("the App that is stored cannot be used: %s", problem, extra=OFTEN)
        return self._serve(environ, start_response)


def _add_pages(app: Flask, settings: Settings) -> None:
    """Add the set-up page if a first-run token is set, and the dashboard if people can sign in."""
    can_sign_in = _can_sign_in(settings)
    if not settings.setup_token and not can_sign_in:
        return
    # Only these pages need the GitHub client, which is slow to import.
    from bot.app.wiring.web import build_dashboard, build_setup
    from bot.interfaces.dashboard.routes import make_dashboard
    from bot.interfaces.pages import make_pages
    from bot.interfaces.setup.routes import make_setup

    app.register_blueprint(make_pages())
    if settings.setup_token:
        app.register_blueprint(make_setup(build_setup(settings)))
    if can_sign_in:
        app.register_blueprint(make_dashboard(build_dashboard(settings)))


def _can_sign_in(settings: Settings) -> bool:
    return bool(settings.app_id and settings.private_key and settings.client_id and settings.client_secret)


def _dashboard_off() -> Response:
    """Show people how to switch the dashboard on. Programs get the same 404 as for any unknown path."""
    if request.accept_mimetypes.best_match(["application/json", "text/html"]) != "text/html":
        abort(404)
    return Response(_OFF, 404, mimetype="text/html")


def _not_set_up() -> tuple[Response, int]:
    return jsonify(error="no GitHub App is set up yet"), 503


class _Receiver:
    """The state that the routes share."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.inbox = Inbox(settings)
        self.body_slots = BodySlots()
        try:
            self.inbox.check()
        except QueueUnavailable as problem:
            log.warning("starting without the queue: %s", problem)

    def take(self, delivery: Accepted) -> dict[str, str]:
        """Queue the delivery if it needs work; returns the outcome as the answer's JSON. Raises QueueUnavailable."""
        match delivery.content:
            case Ping():
                return {"status": "pong"}
            case Ignored(reason):
                return {"status": "ignored", "reason": reason}
            case event:
                # Edits of an issue often come in quick succession: wait, so that the bot answers them once.
                edited = isinstance(event, IssueEvent) and event.action == "edited"
                delay = self.settings.debounce_seconds if edited else 0.0
                new = self.inbox.put(delivery.delivery_id, event, delay)
                return {"status": "queued"} if new else {"status": "known", "reason": "this delivery was taken before"}


@routes.post("/webhook")
def webhook() -> tuple[Response, int]:
    """Check a delivery, and answer 202 once it is committed to the queue or needs no work."""
    receiver = _receiver()
    with receiver.body_slots.take(request.content_length):
        delivery = read(dict(request.headers), read_body(LARGEST_PAYLOAD), receiver.settings.webhook_secrets)
    match delivery:
        case Refused(status, reason):
            DELIVERIES.labels("refused").inc()
            log.info("refused a delivery: %d %s", status, reason, extra=OFTEN)
            return jsonify(error=reason), status
        case Accepted():
            with working_on(Work(delivery.delivery_id)), span("delivery", delivery.delivery_id) as traced:
                outcome = receiver.take(delivery)
                traced.set_attribute("event", delivery.name)
                traced.set_attribute("outcome", outcome["status"])
                DELIVERIES.labels("accepted" if outcome["status"] == "queued" else outcome["status"]).inc()
                log.info("delivery %s (%s): %s", delivery.delivery_id, delivery.name, outcome["status"])
            return jsonify(delivery=delivery.delivery_id, **outcome), 202


@routes.get("/")
def index() -> Response:
    """A page that explains the receiver to people who open its address."""
    return Response(_PAGE, mimetype="text/html")


@routes.errorhandler(QueueUnavailable)
def _unavailable(problem: QueueUnavailable) -> tuple[Response, int]:
    """Answer 503: GitHub then lists the delivery as failed, and the worker asks GitHub to redeliver it."""
    DELIVERIES.labels("failed").inc()
    log.warning("%s: %s", request.path, problem)
    return jsonify(error=str(problem)), 503


def _http_error(problem: HTTPException) -> tuple[Response, int]:
    """Werkzeug's own errors as JSON, without repeating anything that the client sent."""
    message = problem.name
    if request.endpoint == _WEBHOOK:
        DELIVERIES.labels("refused").inc()
        if isinstance(problem, RequestEntityTooLarge):
            message = "the payload is larger than 25 MB"
    return jsonify(error=message), problem.code or 500


def _receiver() -> _Receiver:
    receiver: _Receiver = current_app.extensions["doppel"]
    return receiver
