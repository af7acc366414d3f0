"""How long the demo waits before it begins, and what it refuses before that."""

from __future__ import annotations

import gzip
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bot.cli import main
from bot.demo.events import Event, Progress
from bot.demo.performance import MOST_WAITED_FOR, wait_for_index
from bot.store.parts.repositories import Progress as Filled


def told(bot: Any, count: int) -> str:
    events: list[Event] = []
    wait_for_index(bot, 1, count, events.append)
    return "\n".join(event.what for event in events if isinstance(event, Progress))


def test_few_issues_are_waited_for_until_all_are_in_the_index() -> None:
    progress = iter([None, Filled(seen=100), Filled(seen=MOST_WAITED_FOR), Filled(seen=MOST_WAITED_FOR, done=True)])
    last: list[Any] = [None]

    def at_present(repo_id: int) -> Any:
        last[0] = next(progress, last[0])
        return last[0]

    bot = SimpleNamespace(progress=at_present, check=lambda: None)
    assert "2,000 issues indexed in" in told(bot, MOST_WAITED_FOR)
    assert last[0].done


def test_many_are_not() -> None:
    assert "2,001 issues are read into the bot's index meanwhile" in told(SimpleNamespace(), MOST_WAITED_FOR + 1)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """What the command does with signals holds for it alone."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


CUT = gzip.compress(b'{"id": 1, "created_at": "2024-01-01T00:00:00Z"}\n' * 50)[:-20]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("playbook.json", b"{\n}", "line 1 is not JSON"),
        ("few.jsonl", b'{"id": 1}', "line 1 has no created_at"),
        ("odd.jsonl", b'{"id": 1, "created_at": "2024-01-01T00:00:00Z", "closed_at": "yesterday"}', "'yesterday'"),
        ("named.jsonl.gz", b"{}", "line 1 has no id and no created_at"),
        ("cut.jsonl.gz", CUT, "ended before"),
    ],
    ids=["json", "few", "odd", "named", "cut"],
)
def test_a_file_that_holds_no_issues_is_told_as_such(
    name: str, content: bytes, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    for command in ("demo", "simulator"):
        with pytest.raises(SystemExit) as ended:
            main([command, "--issues", str(file)])
        said = capsys.readouterr().err
        assert ended.value.code == 2, said
        assert f"--issues: {file} is not a file of issues: " in said and says in said


def test_a_port_of_the_page_that_is_taken_is_said_before_anything_starts(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(SystemExit) as ended:
        port = taken.getsockname()[1]
        main(["demo", "--serve", "--port", str(port)])
    printed = capsys.readouterr()
    assert (ended.value.code, printed.out) == (2, "")
    assert printed.err == f"doppel: --port: cannot listen on 127.0.0.1:{port}: another program listens there\n"
