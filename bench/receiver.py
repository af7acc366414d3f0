"""How many signed deliveries a second the receiver commits, beside a route of the same app that does nothing.

    .venv/bin/python bench/receiver.py [--rounds 3] [--deliveries 3000] [--worker-class gthread|sync] [--threads 8]

Two gunicorn workers on a new SQLite file (or `--database-url`), 16 keep-alive connections from a process of its own,
deliveries of 10 kB with unique ids, signed beforehand. Each round asks both routes, one after the other. At the end the
rows in the queue are counted: every 202 must have one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from dataclasses import dataclass
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SECRET = "a secret for measuring"


def app():  # type: ignore[no-untyped-def]
    """The receiver with one more route, which reads the request and answers like the real one, and does nothing."""
    from flask import Response, jsonify, request

    from bot.web import create_app

    application = create_app()

    @application.post("/null")
    def null() -> tuple[Response, int]:
        request.get_data(cache=False)
        return jsonify(delivery=request.headers["X-GitHub-Delivery"], status="queued"), 202

    return application


def delivery(path: str, number: int) -> bytes:
    """A whole HTTP request with a payload of about 10 kB."""
    from bot.deliveries.webhook import sign

    user = {"login": "reporter", "id": 7, "type": "User"}
    payload = {
        "action": "opened",
        "issue": {"id": number, "number": number, "title": "It breaks", "body": "x" * 9_600, "user": user},
        "repository": {"id": 1, "full_name": "acme/app", "private": False, "owner": {"login": "acme"}},
        "sender": user,
        "installation": {"id": 1},
    }
    body = json.dumps(payload).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        f"X-GitHub-Event: issues\r\nX-GitHub-Delivery: {uuid.uuid4()}\r\nX-Hub-Signature-256: {sign(SECRET, body)}\r\n"
        "\r\n"
    )
    return head.encode() + body


@dataclass
class Result:
    """One route in one round; times in seconds."""

    elapsed: float
    latencies: list[float]
    statuses: dict[str, int]

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.elapsed

    def percentile(self, percent: int) -> float:
        return statistics.quantiles(self.latencies, n=100, method="inclusive")[percent - 1]


class Connection(asyncio.Protocol):
    """Sends the next request as soon as the last one is answered."""

    def __init__(self, todo: list[bytes], result: Result, done: asyncio.Future[None]) -> None:
        self.todo, self.result, self.done = todo, result, done
        self.received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: asyncio.Transport = transport  # type: ignore[assignment]
        self.send()

    def send(self) -> None:
        if not self.todo:
            self.transport.close()
            return
        self.began = time.perf_counter()
        self.transport.write(self.todo.pop())

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, end, body = self.received.partition(b"\r\n\r\n")
        if not end:
            return
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        if len(body) < length:
            return
        self.result.latencies.append(time.perf_counter() - self.began)
        status = head.split()[1].decode()
        self.result.statuses[status] = self.result.statuses.get(status, 0) + 1
        self.received = b""
        if b"connection: close" in head.lower():
            self.transport.close()
        else:
            self.send()

    def connection_lost(self, error: Exception | None) -> None:
        self.done.set_result(None)


async def send_all(port: int, requests: list[bytes], connections: int) -> Result:
    """Send all requests over so many connections; one that the server closes is opened again."""
    loop = asyncio.get_running_loop()
    result = Result(0.0, [], {})
    began = time.perf_counter()

    async def keep_sending() -> None:
        while requests:
            done = loop.create_future()
            await loop.create_connection(partial(Connection, requests, result, done), "127.0.0.1", port)
            await done

    await asyncio.gather(*(keep_sending() for _ in range(connections)))
    result.elapsed = time.perf_counter() - began
    return result


def client(arguments: argparse.Namespace) -> None:
    """The sending process: prepares everything, then sends, then prints what it saw."""
    requests = [delivery(arguments.path, number) for number in range(1, arguments.deliveries + 1)]
    result = asyncio.run(send_all(arguments.port, requests, arguments.connections))
    json.dump(vars(result), sys.stdout)


def ask(path: str, port: int, arguments: argparse.Namespace) -> Result:
    """Run the sending process."""
    command = [sys.executable, __file__, "--client", "--path", path, "--port", str(port)]
    command += ["--deliveries", str(arguments.deliveries), "--connections", str(arguments.connections)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return Result(**json.loads(subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout))


def serve(home: Path, port: int, arguments: argparse.Namespace) -> subprocess.Popen[bytes]:
    """Start gunicorn as `Procfile` does, and wait until it is ready."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "DOPPEL_HOME": str(home),
        "WEBHOOK_SECRET": SECRET,
        "PORT": str(port),
        "WEB_CONCURRENCY": "2",
        "LOG_LEVEL": "WARNING",
        "DATABASE_URL": arguments.database_url,
        "DOPPEL_SQLITE_SYNC": arguments.sync,
    }
    command = [sys.executable, "-m", "gunicorn", "-c", "python:bot.gunicorn_conf", "bench.receiver:app()"]
    if arguments.worker_class:
        command += ["--worker-class", arguments.worker_class]
    if arguments.threads:
        command += ["--threads", str(arguments.threads)]
    process = subprocess.Popen(command, env=environment, cwd=home)
    for _ in range(200):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5):
                return process
        except OSError:
            time.sleep(0.1)
    process.terminate()
    raise SystemExit("the server did not become ready")


def count_queued(home: Path, database_url: str) -> int:
    """The rows that the queue holds."""
    import sqlalchemy as sa

    from bot.deliveries.database import jobs, queue_engine
    from bot.platform.settings import load

    engine = queue_engine(load({"DOPPEL_HOME": str(home), "DATABASE_URL": database_url}))
    with engine.connect() as connection:
        return connection.execute(sa.select(sa.func.count()).select_from(jobs)).scalar_one()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--deliveries", type=int, default=3_000)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--worker-class", default="")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--sync", default="FULL", choices=["NORMAL", "FULL"], help="SQLite's synchronous mode")
    parser.add_argument("--database-url", default="")
    parser.add_argument("--client", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--path", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.client:
        client(arguments)
        return
    with tempfile.TemporaryDirectory() as directory:
        measure(Path(directory), arguments)


def measure(home: Path, arguments: argparse.Namespace) -> None:
    """Run the rounds and print the table."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = serve(home, port, arguments)
    try:
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before; {arguments.connections} connections")
        print(f"{'route':<10}{'per second':>12}{'p50 ms':>9}{'p99 ms':>9}{'max ms':>9}  statuses")
        ratios, accepted = [], 0
        for _ in range(arguments.rounds):
            rates = {}
            for path in ("/null", "/webhook"):
                result = ask(path, port, arguments)
                rates[path] = result.rate
                times = [result.percentile(50), result.percentile(99), max(result.latencies)]
                print(f"{path:<10}{result.rate:>12.0f}" + "".join(f"{1000 * one:>9.1f}" for one in times), end="")
                print(f"  {result.statuses}")
                accepted += result.statuses.get("202", 0) if path == "/webhook" else 0
            ratios.append(rates["/webhook"] / rates["/null"])
        print(f"webhook : null = {statistics.median(ratios):.2f} (median of {len(ratios)}); ", end="")
        print(f"answered 202: {accepted}, in the queue: {count_queued(home, arguments.database_url)}")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
