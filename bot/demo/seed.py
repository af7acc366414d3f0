"""What is in the demo repository from the start: the made-up issues, or most of a file's, whose last ones arrive."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Any

from bot.demo.scenario import ROLES, Expect, Scene
from bot.simulator import Simulator
from bot.simulator.operations.rows import IssueRow, read_rows

# The newest of the demo's issues is always this old, so that the show does not depend on the year it is played in.
NEWEST = timedelta(days=3)
ARRIVALS = 4
# Shorter texts say too little to tell whether the bot was right.
TELLING = 200


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
    for form in ("bug.yml", "feature.yml"):
        text = data.joinpath("issue_template", form).read_text("utf-8")
        simulator.write_file(repository, f".github/ISSUE_TEMPLATE/{form}", text)
    rows = [json.loads(line) for line in data.joinpath("issues.jsonl").read_text("utf-8").splitlines()]
    return simulator.load_issues(brought_forward(rows, simulator.now() - NEWEST), repository)


def brought_forward(rows: Sequence[dict[str, Any]], newest: datetime) -> list[dict[str, Any]]:
    """The same issues and comments as many whole days later as makes the last issue arrive on the day of `newest`."""
    later = timedelta(days=(newest - datetime.fromisoformat(rows[-1]["created_at"])).days)

    def shifted(row: dict[str, Any]) -> dict[str, Any]:
        named = [name for name in ("created_at", "closed_at") if row.get(name)]
        times = {name: (datetime.fromisoformat(row[name]) + later).isoformat() for name in named}
        return row | times | ({"comments": list(map(shifted, row["comments"]))} if "comments" in row else {})

    return list(map(shifted, rows))


def split(path: Path) -> tuple[list[IssueRow], tuple[Scene, ...]]:
    """Of somebody's file, the issues that are there from the start, and the scenes: its last ones arrive as news.

    The first scene is a known report that arrives once more. Raises ValueError naming the line that is wrong, or where
    there is no issue, and OSError.
    """
    rows = read_rows(path)
    if not rows:
        raise ValueError("there is no issue in it")
    # Most of a small file must stay behind, or there is nothing to find; but of the smallest, too, something is shown.
    known = rows[: len(rows) - max(1, min(ARRIVALS, len(rows) // 5))]
    # Each at its own time: reports of one thing come close together, and the bot counts on that.
    scenes = [
        Scene(
            "The file's next issue arrives", row.author, row.title, row.body, Expect.ANYTHING, created_at=row.created_at
        )
        for row in rows[len(known) :]
    ]
    told = (n for n, row in enumerate(known, 1) if row.duplicate_of is not None and len(row.body) >= TELLING)
    if number := max(told, default=0):
        heading, row = f"The words of #{number} arrive once more", known[number - 1]
        # By somebody else: one author's second report is as a rule the next of a series.
        when = known[-1].created_at
        again = Scene(heading, "somebody-else", row.title, row.body, shows=(number,), unfold=True, created_at=when)
        scenes.insert(0, again)
    return known, tuple(scenes)
