"""The receiver as it is deployed: gunicorn with several workers, over real sockets, and killed in the middle."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from bot.app.wiring.clients import prepare_databases
from bot.deliveries.database import jobs, queue_engine
from bot.deliveries.webhook import LARGEST_PAYLOAD, sign
from bot.platform.settings import load
from tests.calling import free_port
from tests.waiting import LONGEST, wait_until

pytestmark = pytest.mark.processes

ROOT = Path(__file__).parents[2]
SECRET = "secret"
GUID = "72d3162e-cc78-11e3-81ab-4c9367dc0958"
COMMAND = [sys.executable, "-m", "gunicorn", "-c", "python:bot.gunicorn_conf", "bot.web:create_app()"]


def headers(body: bytes, delivery: str) -> dict[str, str]:
    return {
        "Content-Type": "application/json",
        "X-GitHub-Event": "issues",
        "X-GitHub-Delivery": delivery,
        "X-Hub-Signature-256": sign(SECRET, body),
    }


def payload(number: int) -> bytes:
    user = {"login": "ann", "id": 7, "type": "User"}
    repository = {"id": 5, "full_name": "acme/app", "private": False}
    issue = {"id": number, "number": number, "user": user}
    return json.dumps({"action": "opened", "issue": issue, "repository": repository, "sender": user}).encode()


@dataclass
class Server:
    """gunicorn in a process group of its own, so that all of it can be killed."""

    home: Path
    port: int
    settings: Mapping[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        return self.home / "log"

    @property
    def environ(self) -> dict[str, str]:
        return {
            "DOPPEL_HOME": str(self.home),
            "WEBHOOK_SECRET": SECRET,
            "PORT": str(self.port),
            "WEB_CONCURRENCY": "2",
            "LOG_LEVEL": "INFO",
            **self.settings,
        }

    def start(self) -> None:
        environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **self.environ}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(COMMAND, cwd=self.home, env=environ, start_new_session=True, stderr=log)
        wait_until(self.is_ready, "becoming ready", every=0.05)

    def is_ready(self) -> bool:
        with contextlib.suppress(OSError):
            return self.request("GET", "/readyz")[0] == 200
        return False

    def kill(self) -> None:
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def request(self, method: str, path: str, **options: Any) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, **options)
            response = connection.getresponse()
            body = response.read()
            return response.status, json.loads(
                body
            ) if response.headers.get_content_type() == "application/json" else body
        finally:
            connection.close()

    def deliver(self, body: bytes, delivery: str) -> tuple[int, str]:
        status, answer = self.request("POST", "/webhook", body=body, headers=headers(body, delivery))
        return status, answer["status"]

    def takes_deliveries(self) -> bool:
        """Like GitHub, whoever asks waits for the answer."""
        delivery = str(uuid.uuid4())
        return self.deliver(payload(1), delivery)[0] == 202 and delivery in self.queued()

    def queued(self) -> list[str]:
        engine = queue_engine(load(self.environ))
        with engine.connect() as connection:
            return list(connection.execute(sa.select(jobs.c.id)).scalars())


class Senders:
    """Threads that deliver one event after the other over connections that are kept, until the server is gone."""

    def __init__(self, server: Server, threads: int = 6) -> None:
        self.server = server
        self.acknowledged: list[str] = []
        self._threads = [threading.Thread(target=self._deliver, args=(thread,)) for thread in range(threads)]
        for thread in self._threads:
            thread.start()

    def _deliver(self, thread: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        for number in range(1, 10_000):
            body, delivery = payload(number), str(uuid.UUID(int=(thread + 1) << 64 | number))
            try:
                connection.request("POST", "/webhook", body=body, headers=headers(body, delivery))
                response = connection.getresponse()
                response.read()
            except (OSError, http.client.HTTPException):
                return
            if response.status == 202:
                self.acknowledged.append(delivery)

    def wait_for(self, count: int) -> None:
        wait_until(lambda: len(self.acknowledged) >= count)

    def join(self) -> None:
        for thread in self._threads:
            thread.join()


@contextlib.contextmanager
def serving(home: Path) -> Iterator[Server]:
    server = Server(home, free_port())
    server.start()
    yield server
    if server.process is not None and server.process.poll() is None:
        server.kill()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Server]:
    """For a test that ends it."""
    with serving(tmp_path) as server:
        yield server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("home")) as server:
        yield server


def test_chunked_bodies_are_taken_up_to_the_limit_and_sigterm_lets_what_is_under_way_be_answered(
    own: Server,
) -> None:
    body = payload(1)
    chunks = iter([body[:10], body[10:]])
    options = {"headers": headers(body, GUID), "encode_chunked": True}
    assert own.request("POST", "/webhook", body=chunks, **options)[0] == 202
    endless = iter([b" " * 1_000_000] * (LARGEST_PAYLOAD // 1_000_000 + 2))
    # The server may answer and close before everything has been sent.
    with contextlib.suppress(ConnectionResetError, BrokenPipeError):
        assert own.request("POST", "/webhook", body=endless, **options)[0] == 413
    assert own.queued() == [GUID]

    senders = Senders(own)
    senders.wait_for(100)
    assert own.process is not None
    own.process.send_signal(signal.SIGTERM)
    assert own.process.wait(LONGEST) == 0
    senders.join()
    assert sorted(own.queued()) == sorted([GUID, *senders.acknowledged])


@pytest.mark.postgres
def test_deliveries_wait_for_postgresql_side_by_side(tmp_path: Path, new_database: Callable[[str], str]) -> None:
    """One process: it goes on with others while one waits for the server."""
    server = Server(tmp_path, free_port(), {"DATABASE_URL": new_database("postgres"), "WEB_CONCURRENCY": "1"})
    prepare_databases(load(server.environ))
    server.start()
    engine = queue_engine(load(server.environ))
    waiting = sa.text("SELECT count(*) FROM pg_locks WHERE relation = 'jobs'::regclass AND NOT granted")
    try:
        with engine.begin() as holding, engine.connect() as looking:
            holding.exec_driver_sql("LOCK TABLE jobs IN EXCLUSIVE MODE")
            senders = Senders(server)
            wait_until(lambda: looking.execute(waiting).scalar_one() > 1)
        senders.wait_for(10)
    finally:
        server.kill()
        engine.dispose()
    senders.join()


def test_a_port_that_is_taken_ends_it_at_once(server: Server) -> None:
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **server.environ}
    ended = subprocess.run(COMMAND, env=environ, capture_output=True, text=True, check=False, timeout=LONGEST)
    assert ended.returncode == 1
    assert f"cannot listen on 0.0.0.0:{server.port}: another program listens there" in ended.stderr


def test_what_was_acknowledged_is_in_the_queue_whenever_the_web_is_killed(own: Server) -> None:
    """And any process tells what all have counted since the start; each takes some of what is asked."""
    senders = Senders(own)
    senders.wait_for(100)
    own.kill()
    senders.join()
    acknowledged, queued = senders.acknowledged, own.queued()
    assert set(acknowledged) <= set(queued)
    assert len(queued) == len(set(queued))

    own.start()
    again = acknowledged[-1]
    assert own.deliver(payload(uuid.UUID(again).int & 0xFFFFFFFF), again) == (202, "known")
    assert sorted(own.queued()) == sorted(queued)
    for number in range(20):
        assert own.deliver(payload(number), str(uuid.uuid4())) == (202, "queued")
    assert own.request("POST", "/webhook", body=b"{}")[0] == 401
    prepare_databases(load(own.environ))
    for _ in range(10):
        status, page = own.request("GET", "/metrics")
        counted = {line for line in page.decode().splitlines() if line.startswith("doppel_deliveries_total")}
        assert status == 200
        assert {
            'doppel_deliveries_total{outcome="accepted"} 20.0',
            'doppel_deliveries_total{outcome="refused"} 1.0',
        } <= counted


HEAD = b"POST /webhook HTTP/1.1\r\nHost: here\r\nContent-Length: 1000\r\n"


@pytest.mark.parametrize("begun", [HEAD, HEAD + b"\r\n{"], ids=["head", "body"])
def test_requests_that_are_begun_and_never_ended_keep_no_delivery_out(server: Server, begun: bytes) -> None:
    with contextlib.ExitStack() as unfinished:
        # Each process keeps a thousand.
        for _ in range(150):
            connection = unfinished.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            connection.sendall(begun)
        assert server.takes_deliveries()


@pytest.mark.slow
def test_the_sender_of_an_unfinished_request_is_not_waited_for_without_end(server: Server) -> None:
    """And is told so, where there is somebody to tell."""
    with contextlib.ExitStack() as unfinished:
        connections = []
        for begun in (HEAD, HEAD + b"\r\n{"):
            connection = socket.create_connection(("127.0.0.1", server.port), timeout=LONGEST)
            connections.append(unfinished.enter_context(connection))
            connection.sendall(begun)
        for connection in connections:
            answer = connection.recv(1000)
            assert not answer or answer.startswith(b"HTTP/1.1 400 ")


CHUNKED = b"POST /webhook HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n"
NO_REQUESTS = (
    CHUNKED + b"ZZ\r\nplanted\r\n",
    CHUNKED + b"3\r\nplanted\r\n",
    CHUNKED + b"1;a=\x00planted\r\nx\r\n",
    CHUNKED + b"0\r\nplanted\r\n\r\n",
    CHUNKED.replace(b"/webhook", b"/nowhere") + b"ZZ\r\nplanted\r\n",
    b"planted\r\n\r\n",
    b"GET / HTTP/1.1\r\nplanted\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: planted\r\n\r\n",
)


def test_what_is_no_request_is_400_and_seldom_said(server: Server) -> None:
    before = len(server.log.read_text())
    for number in range(10):
        for sent in NO_REQUESTS:
            with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
                connection.sendall(sent.replace(b"planted", b"planted%d" % number))
                answer = connection.makefile("rb").read()
            assert answer.startswith(b"HTTP/1.1 400 "), (sent, answer)
            assert answer.count(b"HTTP/1.1") == 1
            assert b"planted" not in answer
    said = [line for line in server.log.read_text()[before:].splitlines() if " gunicorn.error: " not in line]
    assert "planted" not in str(said)
    assert len(said) <= len(NO_REQUESTS) * 5, "each process says each of the ten once a minute"


def test_connections_that_say_nothing_keep_no_delivery_out(server: Server) -> None:
    with contextlib.ExitStack() as silent:
        for _ in range(400):
            silent.enter_context(socket.create_connection(("127.0.0.1", server.port)))
        assert server.takes_deliveries()
