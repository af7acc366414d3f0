"""A repository's history on this machine: what was read once is not asked for again, and a broken-off reading goes on.

One file a repository, `history/ID.jsonl` in DOPPEL_HOME, readable by its owner alone: a first line that says what it
is, then a line for each issue as it was when it was read (the last one counts), and after a complete reading a line
with GitHub's ETag.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from bot.errors import UserError
from bot.evaluation.history import PastRecord
from bot.evaluation.statements import READING
from bot.machine.private_files import make_folder, open_kept, open_new
from bot.model import RepoRef


def erase_history(home: Path, repo_id: int) -> None:
    """Erase what was read of a repository, by GitHub's id; nothing, where nothing was read."""
    _file(home, repo_id).unlink(missing_ok=True)


def kept_issues(home: Path, repo_id: int) -> Iterator[dict[str, Any]]:
    """The issues as they were read, the last reading of one last; none, where nothing was read.

    What follows a line that was cut off is lost, as it is for who reads on.
    """
    with suppress(FileNotFoundError, ValueError), _file(home, repo_id).open(encoding="utf-8") as file:
        for line in file:
            if "issue" in (row := json.loads(line)):
                yield row["issue"]


def kept_repositories(home: Path) -> dict[int, str]:
    """The repositories whose histories are kept: their names by GitHub's id. What cannot be read has an empty name."""
    names = {}
    for path in (home / "history").glob("*.jsonl"):
        if path.stem.isascii() and path.stem.isdigit():
            names[int(path.stem)] = _name(path)
    return names


def _name(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            return str(json.loads(file.readline())["repository"])
    except (OSError, ValueError, LookupError, TypeError):
        return ""


def _file(home: Path, repo_id: int) -> Path:
    return home / "history" / f"{repo_id}.jsonl"


class KeptHistory:
    """`records` by number; `etag` is that of the last look, empty where the last reading broke off.

    Raises UserError where its file cannot be read or written, or was erased meanwhile.
    """

    def __init__(self, home: Path, repo_id: int, repo: RepoRef, *, fresh: bool = False) -> None:
        self.records: dict[int, PastRecord] = {}
        self.etag = ""
        self._path = _file(home, repo_id)
        self._first = {"version": READING, "repository": str(repo)}
        lines = [] if fresh else self._lines()
        if lines and lines[0].get("version") == READING:
            for line in lines[1:]:
                self._take(line)
        else:
            self._start()

    @property
    def newest(self) -> str:
        """When the issue that was changed last was changed; empty for a history that has not begun."""
        return max((record.updated_at for record in self.records.values()), default="")

    def add(self, records: Iterable[PastRecord]) -> None:
        """Keep issues, at once."""
        rows: list[dict[str, Any]] = [{"issue": record.to_json()} for record in records]
        self._append(rows)
        for row in rows:
            self._take(row)

    def finish(self, etag: str) -> None:
        """Everything has been read."""
        self._append([{"etag": etag}])
        self.etag = etag

    def _take(self, line: dict[str, Any]) -> None:
        if "issue" in line:
            record = PastRecord.from_json(line["issue"])
            self.records[record.number] = record
        self.etag = line.get("etag", "")

    def _lines(self) -> list[dict[str, Any]]:
        """What the file holds; the last line may have been cut off in the middle, and what follows it is lost."""
        lines: list[dict[str, Any]] = []
        try:
            with self._path.open(encoding="utf-8") as file:
                for line in file:
                    lines.append(json.loads(line))
        except FileNotFoundError:
            pass
        except ValueError:
            # Written anew, so that what is appended does not follow half a line.
            self._write(lines)
        except OSError as problem:
            raise UserError(f"{self._path}: {problem.strerror}") from None
        return lines

    def _start(self) -> None:
        self._write([self._first])

    def _write(self, lines: Iterable[dict[str, Any]]) -> None:
        try:
            make_folder(self._path.parent)
            with open_new(self._path) as file:
                file.writelines(json.dumps(line) + "\n" for line in lines)
        except OSError as problem:
            raise UserError(f"{self._path}: {problem.strerror}; DOPPEL_HOME names the folder") from None

    def _append(self, lines: Iterable[dict[str, Any]]) -> None:
        """Raises UserError where that fails, and where the file is gone: what was erased must not come back."""
        try:
            with open_kept(self._path) as file:
                file.seek(0, os.SEEK_END)
                file.writelines(json.dumps(line) + "\n" for line in lines)
        except FileNotFoundError:
            raise UserError(f"{self._path}: it was erased while it was being read; run it again") from None
        except OSError as problem:
            raise UserError(f"{self._path}: {problem.strerror}; what was read before is kept") from None
