"""An aiohttp app with gidgethub that keeps each delivery in SQLite before it is answered, and does nothing else.

    python bench/gidgethub_app.py PORT DATABASE SECRET PROCESSES

What bench/load.py measures Doppel's receiver against. Several processes share the port, as gunicorn's do.
"""

from __future__ import annotations

import json
import multiprocessing
import sqlite3
import sys
import time

from aiohttp import web
from gidgethub import ValidationFailure, sansio


def serve(port: int, database: str, secret: str) -> None:
    """One process."""
    connection = sqlite3.connect(database, timeout=5, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS deliveries (id TEXT PRIMARY KEY, event TEXT, arrived REAL)")

    async def webhook(request: web.Request) -> web.Response:
        try:
            event = sansio.Event.from_http(request.headers, await request.read(), secret=secret)
        except ValidationFailure:
            return web.Response(status=401)
        data = event.data
        kept = {
            "name": event.event,
            "action": data.get("action"),
            "installation": data.get("installation", {}).get("id"),
            "repository": data.get("repository", {}).get("id"),
            "number": data.get("issue", {}).get("number"),
        }
        # A commit of its own. To wait for it in another thread takes longer, with one writer to a database.
        row = (event.delivery_id, json.dumps(kept), time.time())
        connection.execute("INSERT OR IGNORE INTO deliveries VALUES (?, ?, ?)", row)
        return web.Response(status=202)

    async def readyz(_: web.Request) -> web.Response:
        return web.Response(text="ready")

    app = web.Application(client_max_size=25_000_000)
    app.router.add_post("/webhook", webhook)
    app.router.add_get("/readyz", readyz)
    web.run_app(app, host="127.0.0.1", port=port, reuse_port=True, print=None, access_log=None)


if __name__ == "__main__":
    port, database, secret, processes = sys.argv[1:]
    children = [
        multiprocessing.Process(target=serve, args=(int(port), database, secret), daemon=True)
        for _ in range(int(processes))
    ]
    for child in children:
        child.start()
    for child in children:
        child.join()
