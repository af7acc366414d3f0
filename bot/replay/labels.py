"""What a file of past issues says of duplicates. Training and evaluation read it; a replay never does."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.replay.archive import PastIssue

WARM = 0.2


@dataclass(frozen=True, slots=True)
class Labels:
    """`group` joins issues that report the same thing; `marked` are called duplicates; `unclear` ones are left out."""

    group: Mapping[int | str, int | str]
    marked: frozenset[int | str]
    unclear: frozenset[int | str]


def read_labels(path: Path) -> Labels:
    """The union of all `duplicate_of` links of a file, and the issues whose truth is not known."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        rows: list[dict[str, Any]] = [json.loads(line) for line in lines if line.strip()]
    parent: dict[int | str, int | str] = {row["id"]: row["id"] for row in rows}

    def root(node: int | str) -> int | str:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    marked = [row for row in rows if row.get("duplicate_of") in parent]
    for row in marked:
        parent[root(row["id"])] = root(row["duplicate_of"])
    doubts = ("maybe_related", "body_mentions_master", "dup_unknown_master")
    return Labels(
        {row["id"]: root(row["id"]) for row in rows},
        frozenset(row["id"] for row in marked),
        frozenset(row["id"] for row in rows if any(row.get(doubt) for doubt in doubts)),
    )


def to_learn_from(issues: Sequence[PastIssue], labels: Labels, others: int, seed: int) -> dict[int, float]:
    """Positions of the issues to learn from → how many each stands for: every duplicate, and a sample of the others."""
    first_of: dict[int | str, int] = {}
    for position, issue in enumerate(issues):
        first_of.setdefault(labels.group[issue.id], position)
    late = range(int(len(issues) * WARM), len(issues))
    clear = [n for n in late if issues[n].id not in labels.unclear]
    repeated = [n for n in clear if issues[n].id in labels.marked and first_of[labels.group[issues[n].id]] < n]
    fresh = [n for n in clear if first_of[labels.group[issues[n].id]] == n]
    sample = random.Random(seed).sample(fresh, min(others, len(fresh)))  # noqa: S311 - a sample, no secret
    return dict.fromkeys(repeated, 1.0) | dict.fromkeys(sample, len(fresh) / max(len(sample), 1))
