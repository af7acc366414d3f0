"""The progress of a backfill outlives the process."""

from __future__ import annotations

import threading

import sqlalchemy as sa

from bot.storage import Store
from bot.storage.engine import write
from bot.storage.repositories import Progress
from bot.storage.schema import backfills, lock_index


def test_progress_is_replaced_only_where_it_is_what_it_was(store: Store) -> None:
    kept, first, second = store.backfills, Progress(updated_at=1.5), Progress("page=2", seen=100, expected=300)
    assert (kept.replace(1, first, second), kept.get(1)) == (False, None)
    assert (kept.replace(1, None, first), kept.replace(1, None, second), kept.get(1)) == (True, False, first)
    assert (kept.replace(1, first, second), kept.replace(1, first, first), kept.get(1)) == (True, False, second)


def test_who_notes_progress_waits_for_whoever_erases(store: Store) -> None:
    """Else the row that is being deleted is still there to be replaced, and comes back after that."""
    kept, before = store.backfills, Progress("page=2", seen=100)
    kept.set(1, before)
    noted: list[bool] = []
    other = threading.Thread(target=lambda: noted.append(kept.replace(1, before, Progress("page=3", seen=200))))
    with write(store.engine) as connection:
        lock_index(connection, 1)
        connection.execute(sa.delete(backfills).where(backfills.c.repo_id == 1))
        other.start()
        other.join(0.3)
        assert other.is_alive()
    other.join()
    assert (noted, kept.get(1)) == ([False], None)
