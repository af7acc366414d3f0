"""A connection that is kept alive: its next request can begin in another thread before the last one has ended."""

from __future__ import annotations

from bot.receiver.slow_clients import Worker


def test_the_end_of_a_request_leaves_the_next_one_of_its_connection_noted() -> None:
    worker = Worker.__new__(Worker)
    connection = object()
    worker._awaited = {}
    with worker._awaiting(connection, 1.0):
        worker._awaited[connection] = 2.0
    assert worker._awaited == {connection: 2.0}
    with worker._awaiting(connection, 3.0):
        pass
    assert worker._awaited == {}
