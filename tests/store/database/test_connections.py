"""However many threads a worker has, they cannot all wait for a connection that only one of them could give back."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bot.platform.settings import Settings
from bot.search.index import Index, TextAnalyser
from bot.storage import open_store
from tests.waiting import LONGEST

THREADS = 12


def test_threads_that_read_an_index_can_ask_the_store_meanwhile(store_url: str, tmp_path: Path) -> None:
    """As a find does where it weighs words of issues that are not in the index."""
    store = open_store(Settings(home=tmp_path, database_url=store_url, worker_threads=THREADS), patience=60)
    index, all_at_once = Index(store.engine, TextAnalyser()), threading.Barrier(THREADS, timeout=LONGEST)

    def find(_: int) -> int:
        with index.view(1) as view:
            all_at_once.wait()
            return view.count + len(store.own_issues(1))

    with ThreadPoolExecutor(THREADS) as pool:
        assert list(pool.map(find, range(THREADS))) == [0] * THREADS
    store.close()
