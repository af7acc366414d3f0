"""Whoever writes to SQLite waits for its turn in the same way, or some would starve beside the others."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.store import engine as module
from bot.store.engine import make_engine, write


def test_each_transaction_takes_the_lock_once_and_only_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = []
    take = module._take_write_lock
    monkeypatch.setattr(module, "_take_write_lock", lambda connection: (taken.append(1), take(connection)))
    engine = make_engine(f"sqlite:///{tmp_path / 'a.db'}")
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (a INTEGER)")
    assert taken == []
    # As DBOS writes, which does not know `write`.
    with engine.begin() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM t").scalar_one() == 0
        connection.execute(sa.text("\n  insert INTO t VALUES (1)"))
        connection.execute(sa.text("DELETE FROM t"))
    assert taken == [1]
    with write(engine) as connection:
        connection.execute(sa.text("INSERT INTO t VALUES (2)"))
    assert taken == [1, 1]
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT a FROM t").scalars().all() == [2]
    engine.dispose()
