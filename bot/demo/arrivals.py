"""Scenes made from somebody's file of issues: its last ones arrive as news, and a known report arrives once more."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from bot.demo.scenario import Expect, Scene
from bot.simulator.operations.loading import read_jsonl
from bot.simulator.state.issues import BODY_MAX, TITLE_MAX

ARRIVALS = 4
# Shorter texts say too little to tell whether the bot was right.
TELLING = 200


def split(path: Path) -> tuple[list[dict[str, Any]], tuple[Scene, ...]]:
    """The issues that are there from the start, in order of arrival, and the scenes that follow."""
    rows = sorted(read_jsonl(path), key=lambda row: datetime.fromisoformat(row["created_at"]))
    # Most of a small file must stay behind, or there is nothing to find.
    known = rows[: len(rows) - min(ARRIVALS, len(rows) // 5)]
    scenes = [Scene("The file's next issue arrives", *_text(row), expect=Expect.ANYTHING) for row in rows[len(known) :]]
    number = next((n for n in range(len(known), 0, -1) if _is_telling(known[n - 1])), 0)
    if number:
        login, title, body = _text(known[number - 1])
        again = Scene(f"The words of #{number} arrive once more", login, title, body, shows=(number,), unfold=True)
        scenes.insert(0, again)
    return known, tuple(scenes)


def _is_telling(row: dict[str, Any]) -> bool:
    return row.get("duplicate_of") is not None and len(row.get("body") or "") >= TELLING


def _text(row: dict[str, Any]) -> tuple[str, str, str]:
    title = (row.get("title") or "").strip()[:TITLE_MAX] or "(no title)"
    return row.get("author") or "ghost", title, (row.get("body") or "")[:BODY_MAX]
