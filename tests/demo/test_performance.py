"""What the demo refuses before it begins."""

from __future__ import annotations

import gzip
import socket
from pathlib import Path

import pytest

from bot.app.cli import main

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
