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


def test_unfinished_ones_are_listed_longest_untouched_first(engine: sa.Engine) -> None:
    backfills = Backfills(engine)
    for repo_id, at, done in ((1, 30.0, False), (2, 10.0, False), (3, 5.0, True)):
        backfills.set(repo_id, Progress(updated_at=at, done=done))
    assert backfills.unfinished() == [2, 1]
    backfills.set(2, Progress(updated_at=40.0))
    assert backfills.unfinished() == [1, 2]
