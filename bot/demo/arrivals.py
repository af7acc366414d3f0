"""Scenes made from somebody's file of issues: its last ones arrive as news, and a known report arrives once more."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from bot.demo.scenario import Expect, Scene
from bot.model import NOBODY
from bot.moments import aware
from bot.simulator.operations.loading import read_jsonl
from bot.simulator.state.issues import BODY_MAX, TITLE_MAX

ARRIVALS = 4
# Shorter texts say too little to tell whether the bot was right.
TELLING = 200


def split(path: Path) -> tuple[list[dict[str, Any]], tuple[Scene, ...]]:
    """The issues that are there from the start, in order of arrival, and the scenes that follow."""
    rows = sorted(read_jsonl(path), key=_moment)
    # Most of a small file must stay behind, or there is nothing to find.
    known = rows[: len(rows) - min(ARRIVALS, len(rows) // 5)]
    scenes = [_scene("The file's next issue arrives", row, _moment(row)) for row in rows[len(known) :]]
    number = next((n for n in range(len(known), 0, -1) if _is_telling(known[n - 1])), 0)
    if number:
        again = _scene(f"The words of #{number} arrive once more", known[number - 1], _moment(known[-1]))
        # By somebody else: one author's second report is as a rule the next of a series.
        again = replace(again, login="somebody-else")
        scenes.insert(0, replace(again, expect=Expect.COMMENT, shows=(number,), unfold=True))
    return known, tuple(scenes)


def _scene(heading: str, row: dict[str, Any], when: datetime) -> Scene:
    """The row arrives at its own time: reports of one thing come close together, and the bot counts on that."""
    title = (row.get("title") or "").strip()[:TITLE_MAX] or "(no title)"
    body = (row.get("body") or "")[:BODY_MAX]
    return Scene(heading, row.get("author") or NOBODY, title, body, Expect.ANYTHING, created_at=when)


def _is_telling(row: dict[str, Any]) -> bool:
    return row.get("duplicate_of") is not None and len(row.get("body") or "") >= TELLING


def _moment(row: dict[str, Any]) -> datetime:
    return aware(datetime.fromisoformat(row["created_at"]))
