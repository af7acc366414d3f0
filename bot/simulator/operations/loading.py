"""Seeding a repository with thousands of issues from a file, without events."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast, get_args

from bot.simulator.operations.base import locked
from bot.simulator.operations.comments import ProjectOperations
from bot.simulator.operations.discussions import DiscussionOperations
from bot.simulator.state.accounts import Account
from bot.simulator.state.ids import node_id
from bot.simulator.state.issues import BODY_MAX, REACTIONS, TITLE_MAX, Comment, Issue, StateReason
from bot.simulator.state.repositories import Repository


def read_jsonl(path: str | Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSON Lines file, which may be compressed with gzip (`.gz`). Raises ValueError with the line."""
    path = Path(path)
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        # Some editors put a mark before the first line.
        with opener(path, "rt", encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _object(line, number)
    except (EOFError, zlib.error) as problem:
        # What a broken download ends in; the command line would take the first for somebody who has left.
        raise ValueError(str(problem)) from problem


_HALVES = re.compile("[\ud800-\udfff]")
"""Surrogates without their other half, which JSON can name and no answer could hold."""


def _object(line: str, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
        if "\\ud" in line.lower():
            row = json.loads(_HALVES.sub("\N{REPLACEMENT CHARACTER}", json.dumps(row, ensure_ascii=False)))
    except json.JSONDecodeError as problem:
        raise ValueError(f"line {number} is not JSON ({problem.msg})") from None
    if not isinstance(row, dict):
        raise ValueError(f"line {number} is not a JSON object")
    if lacking := [name for name in ("id", "created_at") if name not in row]:
        raise ValueError(f"line {number} has no {' and no '.join(lacking)}")
    return row


class LoadingOperations(ProjectOperations, DiscussionOperations):
    """Loading."""

    @locked
    def load_issues(
        self, source: str | Path | Iterable[dict[str, Any]], repository: str | Repository = "acme/app"
    ) -> int:
        """Put the issues of a JSON Lines file into the repository (made if there is none) and return how many.

        A line has `id, title, body, created_at, closed_at` and maybe `author`, `closed_by`, `duplicate_of` (another
        line's id), `labels`, `state_reason`, `reactions` (GitHub's word for the emoji → how many) and `comments` (each
        with `body`, `created_at`, maybe `author`). Issues get the next numbers in the order of `created_at`; closed is
        what has a `closed_at`, with the reason `duplicate` where it has a `duplicate_of`, of which it was then marked a
        duplicate.
        Texts are cut to what GitHub takes. No event is emitted, and mentions or "Duplicate of" in a text do nothing.
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
            issue.updated_at = max([issue.updated_at, *(comment.created_at for comment in issue.comments)])
        return len(rows)

    def _load(self, repo: Repository, row: dict[str, Any]) -> Issue:
        author = self._author(row)
        title = (row.get("title") or "").strip()[:TITLE_MAX] or "(no title)"
        issue = self.store_issue(repo, author, title, (row.get("body") or "")[:BODY_MAX], _moment(row["created_at"]))
        issue.labels = [self.label_named(repo, name) for name in dict.fromkeys(row.get("labels") or ())]
        if row.get("closed_at"):
            issue.state, issue.state_reason = "closed", _reason(row.get("state_reason") or "completed")
            issue.closed_at = issue.updated_at = _moment(row["closed_at"])
            if row.get("closed_by"):
                issue.closed_by = self._account(row["closed_by"])
                closed = self.record(issue, "closed", issue.closed_by, state_reason=issue.state_reason)
                closed.created_at = issue.closed_at
            repo.open_issues -= 1
        elif row.get("state_reason") == "reopened":
            issue.state_reason = "reopened"
        for content, count in (row.get("reactions") or {}).items():
            # GitHub shows how many there are, and a file does not say whose.
            if content not in REACTIONS:
                raise ValueError(f"{content!r} is no reaction of GitHub's")
            for serial in range(count):
                self.react(issue, f"reader-{serial + 1}", content)
        for comment in row.get("comments") or ():
            self._load_comment(issue, comment)
        return issue

    def _load_comment(self, issue: Issue, row: dict[str, Any]) -> None:
        author, when, key = self._author(row), _moment(row["created_at"]), self.ids.next("comment")
        node, text = node_id("IC", issue.repository.id, key), row["body"][:BODY_MAX]
        made = Comment(key, node, issue, author, text, when, when)
        issue.comments.append(made)
        self.comments_by_id[key] = made
        self.nodes[node] = made
        self.record(issue, "commented", author, comment=made).created_at = when

    def _author(self, row: dict[str, Any]) -> Account:
        return self._account(row.get("author") or "ghost")

    def _account(self, login: str) -> Account:
        return self.who(login, "Bot" if login.endswith("[bot]") else "User")


def _reason(text: str) -> StateReason:
    for reason in get_args(StateReason):
        if text == reason != "reopened":
            return cast("StateReason", reason)
    raise ValueError(f"{text!r} is no reason for closing an issue")


def _moment(text: str) -> datetime:
    """An ISO 8601 time as an aware one; without a zone it is UTC."""
    moment = datetime.fromisoformat(text)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
