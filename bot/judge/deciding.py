"""The probability after a verdict (J5): the verdict and the probability before it, together. Pure.

`table.json` says what was learned, and from what: of pairs that were called so, with a probability from `from` on
before, readers call such a share the same.
"""

from __future__ import annotations

import json
from bisect import bisect
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

from bot.opinion import Verdict

Table = Mapping[str, Sequence[float]]
"""`from` has the bounds, beginning with 0, and each verdict a probability for each of them."""


def probability(before: float, verdict: Verdict, table: Table | None = None) -> float:
    """How likely two texts are the same that the judge calls so, and that had a probability `before`."""
    known = table or shipped()
    return known[verdict.value][bisect(known["from"], before) - 1]


@cache
def shipped() -> Table:
    """The table that Doppel comes with."""
    table: Table = json.loads(resources.files("bot.judge").joinpath("table.json").read_text(encoding="utf-8"))["table"]
    return table
