"""A simulated GitHub, our client of it, and small web servers, as several test modules need them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from ssl import SSLContext
from wsgiref.types import WSGIApplication

import pytest
from werkzeug.serving import make_server

from bot.domain.entities import RepoRef
from bot.github.client import GitHub
from bot.github.repository import RepoClient
from bot.platform.settings import Settings
from bot.simulator import Server, Simulator, start_simulator
from bot.web import create_app


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """The simulator; at its end nothing may have been asked that it does not know, or that GitHub would refuse."""
    with start_simulator() as running:
        yield running
        assert running.sim.unknown_requests == []
        assert running.sim.violations == []


@contextmanager
def emptied(server: Server) -> Iterator[Simulator]:
    """Its state, for one test: what is in it afterwards goes, and so do the limits that the test has used up."""
    sim = server.sim
    try:
        yield sim
    finally:
        sim.faults.clear()
        sim.clock.advance(120)
        for owner in {installation.account.login for installation in sim.installations.values()}:
            sim.uninstall(owner)
        for repository in list(sim.repositories.values()):
            sim.delete_repository(repository)


@contextmanager
def reading(server: Server, repo: RepoRef) -> Iterator[RepoClient]:
    """The App's client for a repository, in the simulator's time."""
    clock = server.sim.clock
    github = GitHub(
        app_id=server.app_id,
        private_key=server.private_key_pem,
        api_url=server.url,
        patience=0,
        clock=clock.timestamp,
        monotonic=clock.timestamp,
        sleep=clock.advance,
    )
    try:
        yield github.installation(github.app().installation_of(repo))
    finally:
        github.close()


def deliver_here(server: Server, settings: Settings) -> None:
    """Deliver the simulator's webhooks to the bot's web application in this process, without a server."""
    web = create_app(settings).test_client()

    def post(url: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, Mapping[str, str], str]:
        answer = web.post("/webhook", data=body, headers=dict(headers))
        return answer.status_code, dict(answer.headers), answer.get_data(as_text=True)

    server.sim.webhooks.post = post
    server.sim.app.hook.url = "http://receiver.example/webhook"


@contextmanager
def listening(application: WSGIApplication, ssl_context: SSLContext | None = None) -> Iterator[str]:
    """The address of a web server on this machine that has an application answer."""
    server = make_server("127.0.0.1", 0, application, threaded=True, ssl_context=ssl_context)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"{'https' if ssl_context else 'http'}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
