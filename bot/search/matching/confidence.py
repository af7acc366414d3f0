"""Turns an order into probabilities, by how far a candidate stands out and what it shares with the question.

The ranking's score is good at the order within one list, and says nothing across lists. So the probability is learned
in a second step, from the score *relative to its list* and from features that mean the same everywhere.

| feature | what it says |
|---|---|
| `lead` | the score above the background: the mean score of ranks 6 to 25 |
| `behind` | the score less that of the first |
| `ahead` | of the first: its score less that of the second |
| `mass` | the candidate's part in a softmax over the list |
| `spread` | entropy of that softmax: high where many are equally good |
| `firsts` | the share of the compared features by which the candidate is the first of its pool |
| `size` | log of how many issues there are, at least fifty: among many, some match by chance |
| `question_length` | log of the question's words |
| `most NAME` | the highest value of a feature in the pool |
| `usual NAME` | the mean of a feature among the best five |
| … | the candidate's own features, as in `features.py`, with times of at most a year |

A third step calibrates the log-odds by the repository's size (`bot/search/ranking/size.py`).
"""

from __future__ import annotations

import numpy as np

from bot.search.index.packing import Floats
from bot.search.matching import features
from bot.search.matching.standing import COMPARED
from bot.search.ranking import size

LEADERS = 20
"""The best of a list, which get a probability of their own; the others are at most as likely as the last of these."""

BACKGROUND = slice(5, 25)
"""The ranks (from 0) that show what an unrelated issue scores here; short lists have no such ranks."""

LEAST_BACKGROUND = 3
"""If the background has fewer candidates, all but the first stand for it."""

ALONE = 3.0
"""How far the only candidate of a list stands above the background."""

MOST = ("words_shared", "vector_both", "vector_title", "titles", "codes", "messages", "hub", "rarest_five")
USUAL = ("words_shared", "vector_both", "titles", "days", "hub")
CONFIDENCE_NAMES = (
    "lead",
    "behind",
    "ahead",
    "mass",
    "spread",
    "firsts",
    "size",
    "question_length",
    *(f"most {name}" for name in MOST),
    *(f"usual {name}" for name in USUAL),
    *features.NAMES,
)

_AT = {name: place for place, name in enumerate(features.NAMES)}
_MOST, _USUAL, _COMPARED = ([_AT[name] for name in names] for names in (MOST, USUAL, COMPARED))
_TIMES, _YEAR = [_AT["days"], _AT["closed_days"]], np.log1p(365.0)
_FEW = 5


def calibration_rows(odds: Floats, total: int) -> Floats:
    """`size.calibration` of each of the log-odds."""
    return np.array([size.calibration(one, total) for one in odds.tolist()])


def confidence_rows(values: Floats, scores: Floats, total: int) -> Floats:
    """(leaders, NAMES), from a whole list, best first: (candidates, features.NAMES) and the scores."""
    leaders = min(LEADERS, len(scores))
    background = scores[BACKGROUND]
    if len(background) < LEAST_BACKGROUND:
        background = scores[1:] if len(scores) > 1 else scores - ALONE
    usual = float(background.mean())
    second = scores[1] if len(scores) > 1 else usual
    weights = np.exp(scores - scores[0])
    weights /= weights.sum()
    own, best = values[:leaders].copy(), scores[:leaders]
    own[:, _TIMES] = np.minimum(own[:, _TIMES], _YEAR)
    columns = (
        best - usual,
        best - scores[0],
        np.concatenate([[scores[0] - second], np.zeros(leaders - 1)]),
        weights[:leaders],
        -(weights * np.log(weights + 1e-12)).sum(),
        (own[:, _COMPARED] >= values[:, _COMPARED].max(axis=0)).mean(axis=1),
        size.log_size(total),
        own[:, _AT["length"]] + own[:, _AT["shorter"]],
        *values[:, _MOST].max(axis=0),
        *own[:_FEW, _USUAL].mean(axis=0),
    )
    return np.column_stack([*(np.broadcast_to(column, leaders) for column in columns), own])
