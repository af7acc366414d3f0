"""Seeding a repository with thousands of issues from a file, without events."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.simulator.operations.base import locked
from bot.simulator.operations.comments import ProjectOperations
from bot.simulator.state.issues import BODY_MAX, TITLE_MAX, Issue
from bot.simulator.state.repositories import Repository


def read_jsonl(path: str | Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSON Lines file, which may be compressed with gzip (`.gz`)."""
    path = Path(path)
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


class LoadingOperations(ProjectOperations):
    """Loading."""

    @locked
    def load_issues(
        self, source: str | Path | Iterable[dict[str, Any]], repository: str | Repository = "acme/app"
    ) -> int:
        """Put the issues of a JSON Lines file into the repository (made if there is none) and return how many.

        A line has `id, title, body, created_at, closed_at` and maybe `author`, `duplicate_of` (another line's id) and
        `labels`. Issues get the next numbers in the order of `created_at`; closed is what has a `closed_at`, with the
        reason `duplicate` where it has a `duplicate_of`, of which it was then marked a duplicate. Texts are cut to what
        GitHub takes. No event is emitted.
        """
        if isinstance(repository, str) and repository.lower() not in self.names:
            self.add_repository(repository)
        repo = self.repo(repository)
        rows = list(read_jsonl(source) if isinstance(source, str | Path) else source)
        rows.sort(key=lambda row: _moment(row["created_at"]))
        loaded = {str(row["id"]): self._load(repo, row) for row in rows}
        for row in rows:
            issue = loaded[str(row["id"])]
            original = loaded.get(str(row.get("duplicate_of")))
            if issue.state == "closed" and row.get("duplicate_of") is not None:
                issue.state_reason, issue.duplicate_of = "duplicate", original
                if original is not None:
                    mark = self.record(issue, "marked_as_duplicate", self.administrator(repo.owner), canonical=original)
                    mark.created_at = issue.closed_at or mark.created_at
        return len(rows)

    def _load(self, repo: Repository, row: dict[str, Any]) -> Issue:
        author = self.who(row.get("author") or "ghost")
        title = (row.get("title") or "").strip()[:TITLE_MAX] or "(no title)"
        issue = self.store_issue(repo, author, title, (row.get("body") or "")[:BODY_MAX], _moment(row["created_at"]))
        issue.labels = [self.label_named(repo, name) for name in dict.fromkeys(row.get("labels") or ())]
        if row.get("closed_at"):
            issue.state, issue.state_reason = "closed", "completed"
            issue.closed_at = issue.updated_at = _moment(row["closed_at"])
            repo.open_issues -= 1
        return issue


def _moment(text: str) -> datetime:
    """An ISO 8601 time as an aware one; without a zone it is UTC."""
    moment = datetime.fromisoformat(text)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
