"""How many database connections docs/operations.md says that a process has at most, held to the code."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from bot.app.wiring.web import build_dashboard
from bot.app.wiring.worker_process import build_services, job_handler
from bot.deliveries.worker import Worker
from bot.platform.settings import Settings
from bot.storage import open_store
from bot.web import create_app

PAGE = Path(__file__).parents[1] / "docs/operations.md"
ROW = re.compile(r"^  \| (.+?) \| (\d+) \| (\d+) \|$", re.MULTILINE)


def test_the_manual_knows_how_many_connections_a_process_has_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(
        home=tmp_path,
        database_url=f"sqlite:///{tmp_path / 'doppel.db'}",
        app_id=1,
        private_key="a key that signs nothing here",
        webhook_secrets=("secret",),
        client_id="Iv1.x",
        client_secret="secret",
    )
    open_store(settings).close()
    create, pools = sa.create_engine, list[tuple[bool, int]]()

    def noted(url: Any, **options: Any) -> sa.Engine:
        # On SQLite, which nobody asks how many there are, the queue has a file of its own.
        pools.append((str(url) != settings.database_url, options["pool_size"]))
        return create(url, **options)

    monkeypatch.setattr(sa, "create_engine", noted)

    def made(make: Callable[[], object]) -> tuple[int, int]:
        pools.clear()
        make()
        return sum(size for queue, size in pools if queue), sum(size for queue, size in pools if not queue)

    def worker(settings: Settings) -> None:
        Worker(settings, job_handler(build_services(settings)))

    usual = made(lambda: worker(settings))
    more = made(lambda: worker(settings.model_copy(update={"worker_threads": settings.worker_threads + 1})))
    shown = {what: (int(queue), int(store)) for what, queue, store in ROW.findall(PAGE.read_text(encoding="utf-8"))}
    assert list(shown.values()) == [
        usual,
        (more[0] - usual[0], more[1] - usual[1]),
        made(lambda: create_app(settings)),
        made(lambda: build_dashboard(settings).data()),
    ]
