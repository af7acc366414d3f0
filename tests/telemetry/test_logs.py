"""Log lines: in two forms, each saying what it belongs to, without the texts of exceptions."""

from __future__ import annotations

import json
import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from bot.platform.logs import EVERY, JsonFormatter, RepeatFilter, TextFormatter, configure_logging
from bot.platform.tracing import Work, current, with_context, working_on

WORK = Work(delivery="d-1", job="issues.opened", attempt=2)
SECRET = "hunter2"


def record(message: str, *arguments: object, error: BaseException | None = None) -> logging.LogRecord:
    info = (type(error), error, error.__traceback__) if error else None
    made = logging.LogRecord("bot.test", logging.WARNING, __file__, 1, message, arguments, info)
    made.created = 1_700_000_000.25
    return made


def failure() -> BaseException:
    try:
        try:
            raise ValueError(SECRET)
        except ValueError as cause:
            raise RuntimeError(SECRET) from cause
    except RuntimeError as error:
        return error


def test_text_says_what_a_line_belongs_to() -> None:
    line = TextFormatter().format(record("took %d s", 3))
    assert line == "2023-11-14T22:13:20.250Z WARNING bot.test: took 3 s"
    with working_on(WORK):
        line = TextFormatter().format(record("took %d s", 3))
    assert line.endswith("bot.test: took 3 s [delivery=d-1 job=issues.opened attempt=2]")


def test_json_is_one_object_a_line() -> None:
    with working_on(WORK):
        line = JsonFormatter().format(record("one\ntwo\u2028three %s", "é"))
    assert line.isascii()
    assert "\n" not in line
    read = json.loads(line)
    process = read.pop("process")
    assert process > 0
    assert read == {
        "time": "2023-11-14T22:13:20.250Z",
        "level": "WARNING",
        "logger": "bot.test",
        "message": "one\ntwo\u2028three é",
        "delivery": "d-1",
        "job": "issues.opened",
        "attempt": 2,
    }


@pytest.mark.parametrize("formatter", [TextFormatter(), JsonFormatter()])
def test_texts_of_exceptions_are_left_out(formatter: logging.Formatter) -> None:
    line = formatter.format(record("it failed", error=failure()))
    assert SECRET not in line
    assert "RuntimeError" in line
    assert "ValueError" in line
    assert "test_logs.py" in line


def test_a_message_cannot_look_like_another_line_or_command_a_terminal() -> None:
    line = TextFormatter().format(record("a\n2023-11-14T22:13:20.250Z ERROR bot: forged\r\x1b[2J\u202eb"))
    first, second = line.split("\n")
    assert first.endswith(": a")
    assert second == "    2023-11-14T22:13:20.250Z ERROR bot: forged\\r\\x1b[2J\\u202eb"


def test_other_threads_know_the_work_only_where_it_is_carried() -> None:
    def who() -> str:
        return current().delivery

    with working_on(WORK), ThreadPoolExecutor(2) as threads:
        assert threads.submit(who).result() == ""
        carry = with_context(who)
        assert [threads.submit(carry).result() for _ in range(8)] == ["d-1"] * 8
    assert current() == Work()


def test_other_libraries_are_heard_of_warnings_alone(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("DEBUG", "json")
    logging.getLogger("httpx").info("GET https://api.github.com/search?q=%s", SECRET)
    logging.getLogger("sqlalchemy.engine").debug(SECRET)
    logging.getLogger("bot.one").debug("ours")
    logging.getLogger("urllib3").warning("theirs")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(line["logger"], line["message"]) for line in lines] == [("bot.one", "ours"), ("urllib3", "theirs")]


def test_what_is_said_without_end_is_written_once_a_minute() -> None:
    now = 1_000.0
    repeats = RepeatFilter(lambda: now)
    written = []
    for second in range(int(EVERY) + 1):
        now = 1_000.0 + second
        for text in ("the queue is unavailable", "the queue cannot tell what is new"):
            record = logging.LogRecord("bot.deliveries.worker", logging.WARNING, __file__, 1, text, (), None)
            record.often = True
            if repeats.filter(record):
                written.append(text)
    first = ["the queue is unavailable", "the queue cannot tell what is new"]
    assert written == [*first, *first]
    mine = logging.LogRecord("bot.web", logging.WARNING, __file__, 1, "it failed: at once", (), None)
    assert repeats.filter(mine) and repeats.filter(mine), "others are left as they are"


def test_a_line_that_cannot_be_made_does_not_show_its_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("INFO", "json")
    logging.getLogger("bot.one").warning("%d", SECRET)
    said = capsys.readouterr().err
    assert SECRET not in said and said.startswith("a line of bot.one could not be written: test_logs.py:")


def test_a_thread_that_dies_does_so_without_its_text(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("INFO")

    def die() -> None:
        raise OSError(SECRET)

    thread = threading.Thread(target=die)
    thread.start()
    thread.join()
    said = capsys.readouterr().err
    assert "a thread has ended with an error" in said
    assert "OSError" in said
    assert SECRET not in said
