"""What DBOS says in the log: what has happened, once a minute, without the text of an exception."""

from __future__ import annotations

import logging

import pytest
import sqlalchemy as sa

from bot.telemetry.logs import EVERY, Quoted, brief

FAILURE = sa.exc.OperationalError("UPDATE t SET a = ?", ("hush hush",), Exception("hush: refused"))


def record(message: str, name: str = "dbos") -> logging.LogRecord:
    return logging.LogRecord(name, logging.WARNING, __file__, 1, message, (), None)


@pytest.mark.parametrize(
    ("said", "written"),
    [
        (f"Exception taking the jobs lock: {FAILURE}", "Exception taking the jobs lock: builtins.Exception"),
        (
            "Database connection failed: (psycopg.OperationalError) no. Retrying",
            "Database connection failed: psycopg.OperationalError",
        ),
        ("Exception polling schedules: Traceback (most recent call last):\n  hush", "Exception polling schedules"),
        ("Error serializing object: {'body': 'hush'}", "Error serializing object"),
        ("Step being automatically retried (attempt 1 of 3)", "Step being automatically retried (attempt 1 of 3)"),
    ],
)
def test_of_an_exception_its_kind_is_written(said: str, written: str) -> None:
    assert brief(said) == written
    assert "hush" not in written


def test_what_is_said_without_end_is_written_once_a_minute_with_how_often() -> None:
    now = 1_000.0
    quoted = Quoted(lambda: now)
    written = []
    for second in range(int(EVERY) + 1):
        now = 1_000.0 + second
        for text in ("Exception reloading queue events: (a.B) c", f"Exception listing queues: (a.B) {second}"):
            if fit := quoted.fit(record(text)):
                written.append(fit.getMessage())
    first = ["Exception reloading queue events: a.B", "Exception listing queues: a.B"]
    assert written == [*first, *(f"{one} (and 59 times since it was last said)" for one in first)]


def test_others_are_left_as_they_are() -> None:
    mine = record("it failed: at once", "bot.web")
    quoted = Quoted()
    assert quoted.fit(mine) is quoted.fit(mine) is mine
