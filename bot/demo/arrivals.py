"""Scenes made from somebody's file of issues: its last ones arrive as news, and a known report arrives once more."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

from bot.demo.scenario import Expect, Scene
from bot.simulator.operations.rows import IssueRow, read_rows

ARRIVALS = 4
# Shorter texts say too little to tell whether the bot was right.
TELLING = 200


def split(path: Path) -> tuple[list[IssueRow], tuple[Scene, ...]]:
    """The issues that are there from the start, in order of arrival, and the scenes that follow.

    Raises ValueError naming the line that is wrong, or where there is no issue, and OSError.
    """
    rows = read_rows(path)
    if not rows:
        raise ValueError("there is no issue in it")
    # Most of a small file must stay behind, or there is nothing to find; but of the smallest, too, something is shown.
    known = rows[: len(rows) - max(1, min(ARRIVALS, len(rows) // 5))]
    scenes = [_scene("The file's next issue arrives", row, row.created_at) for row in rows[len(known) :]]
    number = next((n for n in range(len(known), 0, -1) if _is_telling(known[n - 1])), 0)
    if number:
        again = _scene(f"The words of #{number} arrive once more", known[number - 1], known[-1].created_at)
        # By somebody else: one author's second report is as a rule the next of a series.
        again = replace(again, login="somebody-else")
        scenes.insert(0, replace(again, expect=Expect.COMMENT, shows=(number,), unfold=True))
    return known, tuple(scenes)


def _scene(heading: str, row: IssueRow, when: datetime) -> Scene:
    """The row arrives at its own time: reports of one thing come close together, and the bot counts on that."""
    return Scene(heading, row.author, row.title, row.body, Expect.ANYTHING, created_at=when)


def _is_telling(row: IssueRow) -> bool:
    return row.duplicate_of is not None and len(row.body) >= TELLING
