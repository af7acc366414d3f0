"""The demo repository inside the simulator: its people, forms and issues, or those of a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from importlib import resources
from typing import Any

from bot.demo.scenario import ROLES
from bot.simulator import Simulator
from bot.simulator.operations.rows import IssueRow

# The newest of the demo's issues is always this old, so that the show does not depend on the year it is played in.
NEWEST = timedelta(days=3)


def seed(simulator: Simulator, repository: str, rows: Sequence[IssueRow] | None = None) -> int:
    """Make `repository` with the demo's issues, or with `rows` of a file; returns their number.

    The bot has its default settings there. The App is not installed yet, so nothing is delivered for what is there from
    the start.
    """
    simulator.add_organization(repository.partition("/")[0])
    simulator.add_repository(repository)
    for login, role in ROLES.items():
        simulator.set_permission(repository, login, role)
    count = _load_own(simulator, repository) if rows is None else simulator.load_rows(rows, repository)
    with simulator.lock:
        simulator.flush_index()
    return count


def _load_own(simulator: Simulator, repository: str) -> int:
    data = resources.files("bot.demo")
    for form in ("bug", "feature"):
        path = f".github/ISSUE_TEMPLATE/{form}.yml"
        simulator.write_file(repository, path, data.joinpath("issue_template", f"{form}.yml").read_text("utf-8"))
    rows = [json.loads(line) for line in data.joinpath("issues.jsonl").read_text("utf-8").splitlines()]
    rows = brought_forward(rows, simulator.now() - NEWEST)
    return simulator.load_issues(rows, repository)


def brought_forward(rows: Sequence[dict[str, Any]], newest: datetime) -> list[dict[str, Any]]:
    """The same issues and comments as many whole days later as makes the last issue arrive on the day of `newest`."""
    later = timedelta(days=(newest - datetime.fromisoformat(rows[-1]["created_at"])).days)

    def shifted(row: dict[str, Any]) -> dict[str, Any]:
        times = {
            name: (datetime.fromisoformat(row[name]) + later).isoformat()
            for name in ("created_at", "closed_at")
            if row.get(name)
        }
        comments = {"comments": [shifted(comment) for comment in row["comments"]]} if "comments" in row else {}
        return row | times | comments

    return [shifted(row) for row in rows]
