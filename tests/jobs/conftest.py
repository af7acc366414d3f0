"""A worker that runs, for the tests of a file on one database: DBOS is one to a process."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from dbos import _workflow_commands

from bot.jobs import worker as worker_module
from bot.jobs.queue.database import BACKGROUND_QUEUE, REPLAY_QUEUE
from bot.jobs.running import retry
from bot.settings import Settings
from tests.jobs.bench import Bench, new_number


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def bench(
    request: pytest.FixtureRequest, new_store: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bench]:
    settings = Settings(home=tmp_path_factory.mktemp("home"), database_url=new_store(request.param), worker_threads=4)
    bench = Bench(settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retry, "_FIRST_WAIT", 0.1)
        patch.setattr(
            worker_module, "POLL_EVERY", worker_module.POLL_EVERY | {BACKGROUND_QUEUE: 0.1, REPLAY_QUEUE: 0.1}
        )
        # DBOS looks once a second for what is due.
        patch.setattr(_workflow_commands, "_BACKGROUND_JOBS_INTERVAL_SEC", 0.1)
        bench.worker.start()
        yield bench
        assert bench.worker.stop()
    assert bench.overlaps == 0, "two jobs of one partition ran at the same time"
    bench.inbox.close()
    bench.dead_letters.close()
    bench.engine.dispose()


@pytest.fixture
def number() -> int:
    """An issue that no other test uses."""
    return new_number()
