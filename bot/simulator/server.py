"""The Flask application and the threaded HTTP server around a simulator."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from flask import Flask, Response, request
from werkzeug.routing import BaseConverter

from bot.simulator.http import dispatch
from bot.simulator.http.routing import Route
from bot.simulator.http.wire import Application, WireServer
from bot.simulator.simulator import Simulator
from bot.simulator.site import SIMULATOR, make_site

ENTERPRISE_PREFIX = "/api/v3"

_THIS_MACHINE = frozenset(("localhost", "127.0.0.1", "::1"))
# A server that listens on all addresses cannot know the machine's names, so it accepts every name.
_EVERYWHERE = "0.0.0.0"  # noqa: S104


class _Anything(BaseConverter):
    """The rest of a path, which may have slashes or be empty."""

    regex = ".*?"
    part_isolating = False


def create_app(sim: Simulator, host: str = "127.0.0.1") -> Application:
    """The WSGI application that serves this simulator's REST and GraphQL interfaces, and its pages.

    `/repositories/ID/…` means `/repos/OWNER/NAME/…`. Enterprise's `/api/v3/…` means `/…`, and
    `/api/graphql` means `/graphql`. A `Host` other than `host` and this machine's names gets 403.
    Without this, a web page whose host name resolves to this machine (DNS rebinding) could read the issues here.
    """
    routed = _routes().wsgi_app
    names = _THIS_MACHINE | {host.lower()}

    def call(environ: dict[str, Any], start: Any) -> Any:
        if host != _EVERYWHERE and _name(environ.get("HTTP_HOST", host)) not in names:
            return Response("The simulator has no such name.", 403)(environ, start)
        path: str = environ.get("PATH_INFO", "")
        if path == ENTERPRISE_PREFIX or path.startswith(ENTERPRISE_PREFIX + "/"):
            path = path.removeprefix(ENTERPRISE_PREFIX) or "/"
        elif path == "/api/graphql":
            path = "/graphql"
        if path.startswith("/repositories/"):
            number, _, tail = path.removeprefix("/repositories/").partition("/")
            # No id has 20 digits, and Python refuses to read numbers of thousands of digits.
            repo = sim.repositories.get(int(number)) if number.isdecimal() and len(number) < 20 else None
            # No login looks like this, so an unknown id leads to a 404.
            name = repo.full_name if repo else f"--/{number}"
            path = f"/repos/{name}/{tail}" if tail else f"/repos/{name}"
        return routed({**environ, "PATH_INFO": path, SIMULATOR: sim}, start)

    return call


def _name(host: str) -> str:
    """The name in a `Host` header; empty without one."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


@cache
def _routes() -> Flask:
    """The routes, shared by all simulators of this process: compiling them is the slowest step of a start."""
    # Import late: GraphQL takes a while to import, and every import from `bot.simulator` also imports this module.
    from bot.simulator.routes import ROUTES

    app = Flask("bot.simulator", static_folder=None)
    # Let exceptions pass: a simulated fault raises one to drop the connection.
    app.config["PROPAGATE_EXCEPTIONS"] = True
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False
    app.url_map.converters["anything"] = _Anything
    for number, route in enumerate(ROUTES):
        app.add_url_rule(route.path, f"{number}", _view(route), methods=[route.method], provide_automatic_options=False)

    app.register_blueprint(make_site())

    def unknown(_error: Exception) -> Response:
        return dispatch.unknown(request.environ[SIMULATOR], request)

    app.register_error_handler(404, unknown)
    app.register_error_handler(405, unknown)
    return app


def _view(route: Route) -> Callable[..., Response]:
    def view(**params: Any) -> Response:
        return dispatch.answer(request.environ[SIMULATOR], route, request, params)

    return view


@dataclass(slots=True)
class Server:
    """A running simulator. `url` is the value for `GITHUB_API_URL`."""

    sim: Simulator
    url: str
    _http: WireServer
    _thread: threading.Thread

    @property
    def app_id(self) -> int:
        """The id of the App that exists from the start."""
        return self.sim.app.id

    @property
    def private_key_pem(self) -> str:
        return self.sim.app.private_key

    @property
    def webhook_secret(self) -> str:
        """The secret with which the App's deliveries are signed."""
        return self.sim.app.hook.secret

    def stop(self) -> None:
        """End the server and the deliveries."""
        self.sim.webhooks.stop()
        self._http.close()
        self._thread.join(timeout=2.0)


def serve(
    sim: Simulator,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    enterprise: bool = False,
    announce: Callable[[str], None] = lambda url: None,
) -> Server:
    """Serve the simulator in a new thread.

    Port 0 takes a free port; `enterprise` puts the API under `/api/v3`. `announce` gets the address before anybody can
    connect.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    port = listener.getsockname()[1]
    url = f"http://{host}:{port}" + (ENTERPRISE_PREFIX if enterprise else "")
    announce(url)
    listener.listen(128)
    http = WireServer(listener, create_app(sim, host))
    sim.urls.api = url
    thread = threading.Thread(
        target=http.serve_forever, kwargs={"poll_interval": 0.02}, name="simulator-http", daemon=True
    )
    thread.start()
    return Server(sim, url, http, thread)


@contextmanager
def start_simulator(*, enterprise: bool = False, **options: Any) -> Iterator[Server]:
    """Run a simulator over real HTTP on 127.0.0.1 for the length of a `with` block.

        with start_simulator() as server:
            repo = server.sim.add_repository("acme/app")
            server.sim.install("acme")
            settings = Settings(github_api_url=server.url, app_id=server.app_id, private_key=server.private_key_pem, …)
            issue = server.sim.open_issue("acme/app", "alice", "It crashes", "…")

    Webhooks: pass `webhook_url="http://…/webhook"` and `webhook_secret`, or set `server.sim.app.hook.url` and `.secret`
    later. Events that occur while the URL is empty are never delivered. A function `post=` can send the deliveries,
    e.g. to a Flask test client: `post(url, body, headers) -> (status, headers, text)`. It needs a URL, too.
    `server.sim.webhooks.join()` waits until all queued deliveries are answered, and `.log` lists every delivery.

    All options but `enterprise` go to `Simulator`, e.g. `clock=Clock(datetime(2026, 1, 1, tzinfo=UTC))`.
    """
    server = serve(Simulator(**options), enterprise=enterprise)
    try:
        yield server
    finally:
        server.stop()
