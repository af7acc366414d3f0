"""The progress of a backfill outlives the process."""

from __future__ import annotations

import sqlalchemy as sa

from bot.index.backfill import Backfills, Progress
from bot.store.engine import make_engine


def test_progress_is_there_after_a_restart(engine: sa.Engine) -> None:
    progress = Progress(cursor="page=3", etag='"abc"', seen=200, expected=1_000, problem="rate limited", updated_at=9.0)
    Backfills(engine).set(1, progress)
    again = make_engine(engine.url.render_as_string(hide_password=False))
    assert Backfills(again).get(1) == progress
    assert Backfills(again).get(2) is None
    again.dispose()
