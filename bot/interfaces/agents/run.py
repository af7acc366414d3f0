"""Semantic deduplication for programs that run agents (D1): `from bot.api import run_deduplication`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bot.interfaces.agents.playbook import complain

SECTION_SLUGS: Sequence[str] = (
    "PATTERNS & APPROACHES",
    "MISTAKES TO AVOID",
    "USER PREFERENCES",
    "PROJECT CONTEXT",
    "OTHERS",
)
"""The order of sections. Of merged entries, the first in this order stays. Programs may set another order here."""


def run_deduplication(
    playbook: Any, threshold: float | None = None, embed: Callable[[Sequence[str]], Any] | None = None
) -> Any:
    """Merge similar entries of a playbook in place, and return the playbook (D1–D7). Never raises.

    A playbook is `{version, last_updated, sections: {SECTION: [{name, text, helpful, harmful}]}}`.
    Entries whose texts have a cosine of at least `threshold`, in [0, 1], are merged, also in chains, but never two
    entries that contradict each other (D5a). The first entry keeps name, text and section, and sums the counters.
    The default of `threshold` is the variable AGENTIC_CONTEXT_DEDUP_THRESHOLD, or else 0.85 (wordllama: 0.78).

    `embed` turns a list of texts into an array of unit vectors, one row for each text. Without `embed` the best
    installed model is used; the model is loaded only if there are at least two entries. If the playbook is malformed,
    or the model is missing or broken, stderr says so and the playbook is returned unchanged.
    """
    try:
        # numpy may not be installed (D5).
        from bot.interfaces.agents import deduplication
    except ImportError as missing:
        complain("the playbook is left as it is", missing)
        return playbook
    return deduplication.run(playbook, threshold, embed, SECTION_SLUGS)
