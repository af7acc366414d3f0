"""A made-up history with known duplicates."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

START = datetime(2024, 1, 1, tzinfo=UTC)
PARTS = ("login page", "export", "font list", "main menu", "sound mixer", "map view", "printer dialog", "backup")
FAULTS = ("crashes behind a proxy", "writes an empty file", "looks blurred", "does not open at night", "stutters twice")
BEGINS = "The same again: "


def rows(count: int = 60, every: int = 4) -> list[dict[str, Any]]:
    """Issues of which every fourth says again what the one twelve before it said."""
    made: list[dict[str, Any]] = []
    for number in range(1, count + 1):
        moment = (START + timedelta(days=number)).isoformat().replace("+00:00", "Z")
        row: dict[str, Any] = {"id": number, "author": f"user{number}", "created_at": moment, "closed_at": None}
        earlier = made[number - 14] if number > 14 and number % every == 0 else None
        if earlier and "duplicate_of" not in earlier:
            row |= {"title": earlier["title"], "body": BEGINS + earlier["body"], "duplicate_of": earlier["id"]}
            row["closed_at"] = (START + timedelta(days=number, hours=1)).isoformat().replace("+00:00", "Z")
        else:
            what = f"{PARTS[number % 8]} {FAULTS[number % 5]}"
            row |= {"title": f"The {what}, case {number}", "body": f"Since version {number}.{number % 7} the {what}."}
        made.append(row)
    return made


def answers() -> list[dict[str, Any]]:
    """What a replay of it could answer: the original surely, and something for each of the others, surely not."""
    made = []
    for row in rows():
        number, of = row["id"], row.get("duplicate_of")
        best = {"id": of, "confidence": 0.7 + number / 400} if of else {"id": 1, "confidence": 0.05 * (number % 8)}
        made.append({"id": number, "candidates": [best] if number > 1 else []})
    return made
