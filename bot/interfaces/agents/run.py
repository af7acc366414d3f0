"""The way in to semantic deduplication for hosts and scripts (D1): `from bot.api import run_deduplication`."""

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
"""The canonical order of sections, which decides who is first of a group; hosts may put their own in its place."""


def run_deduplication(
    playbook: Any, threshold: float | None = None, embed: Callable[[Sequence[str]], Any] | None = None
) -> Any:
    """Merge the entries of a playbook that say the same, in place, and return it (D1–D7). It never raises.

    A playbook is `{version, last_updated, sections: {SECTION: [{name, text, helpful, harmful}]}}`. Entries whose texts
    have a cosine similarity of at least `threshold`, in [0, 1], and those that hang together by such pairs, become one:
    the first keeps name, text and section, and gets the sums of `helpful` and `harmful`. Without a threshold
    AGENTIC_CONTEXT_DEDUP_THRESHOLD decides, else the model's own (0.85 for all-MiniLM-L6-v2 and for `embed`).

    `embed` turns a list of texts into an array of unit vectors, one row each; without it the best model that is
    installed does, loaded only where there are two entries or more. If the playbook is malformed, or the model missing
    or broken, stderr says so and the playbook is returned as it was.
    """
    try:
        # Numbers in bulk need a package that a host of playbooks alone may not have (D5).
        from bot.interfaces.agents import deduplication
    except ImportError as missing:
        complain("the playbook is left as it is", missing)
        return playbook
    return deduplication.run(playbook, threshold, embed, SECTION_SLUGS)
