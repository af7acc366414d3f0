"""What was merged into what, and why: the account that a person can check. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bot.knowledge.deduplication import Deduplication
from bot.knowledge.playbook import Entry
from bot.knowledge.similarity import ROUNDING, nearest


@dataclass(frozen=True, slots=True)
class Absorbed:
    """An entry that went into another, with the cosine similarity of the two.

    Where that is below the threshold, they hang together by others: `through` is the entry of the group that is most
    like it, and `link` how much (D2).
    """

    entry: Entry
    similarity: float
    through: Entry | None
    link: float | None


@dataclass(frozen=True, slots=True)
class Merge:
    """An entry that stayed, as it was, with its new counters, and what went into it."""

    survivor: Entry
    helpful: int
    harmful: int
    absorbed: tuple[Absorbed, ...]

    def to_json(self) -> dict[str, Any]:
        """For programs: names, sections, counters and similarities."""
        return {
            "name": self.survivor.name,
            "section": self.survivor.section,
            "text": self.survivor.text,
            "helpful": self.helpful,
            "harmful": self.harmful,
            "absorbed": [
                {
                    "name": one.entry.name,
                    "section": one.entry.section,
                    "text": one.entry.text,
                    "similarity": round(one.similarity, 4),
                    "through": one.through.name if one.through else None,
                }
                for one in self.absorbed
            ],
        }


def account(found: Deduplication) -> Iterator[Merge]:
    """Every merge, in the order of the survivors. To be made before the playbook is changed or after, as you like."""
    for group in found.merged:
        vectors, members = found.vectors, np.array(group.members)
        others = members[1:]
        similarities = vectors[others] @ vectors[group.survivor]
        far = np.flatnonzero(similarities < found.threshold - ROUNDING)
        links = dict(zip(far.tolist(), zip(*nearest(vectors, others[far], members), strict=True), strict=True))
        absorbed = []
        for place, (position, similarity) in enumerate(zip(others.tolist(), similarities.tolist(), strict=True)):
            through, link = links.get(place, (None, None))
            absorbed.append(
                Absorbed(
                    found.entries[position],
                    similarity,
                    None if through is None else found.entries[through],
                    None if link is None else float(link),
                )
            )
        yield Merge(found.entries[group.survivor], group.helpful, group.harmful, tuple(absorbed))
