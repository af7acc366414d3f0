"""From an order to a probability: how far a candidate stands out, and what it has in common with the question.

The score that ranks is good at the order within one list and says nothing across lists. So whether to speak is learned
in a second step, from the score *relative to its list* and from features that mean the same everywhere.

| feature | what it says |
|---|---|
| `lead` | the score above the background: the mean score of ranks 6 to 25 |
| `behind` | the score less that of the first |
| `ahead` | of the first: its score less that of the second |
| `mass` | the candidate's part in a softmax over the list |
| `size` | log of how many issues there are: among many, one matches by chance as well |
| `question_length` | log of the question's words |
| … | features of `features.py`, as they are |
"""

from __future__ import annotations

import numpy as np

from bot.index.packing import Floats
from bot.matching import features

#: How many of a list are given a probability by the model; what comes after is at most as likely as the last.
LEADERS = 20
#: Features of the candidate itself that count.
OWN = (
    "titles",
    "title_in_words",
    "words_in_title",
    "words_shared",
    "words_of_question",
    "words_of_candidate",
    "rarest_five",
    "codes",
    "messages",
    "vector_title",
    "vector_both",
    "ratio",
    "same_topic",
    "days",
    "within_a_week",
    "open",
    "closed_days",
    "hub",
    "same_author",
    "same_author_lately",
)
NAMES = ("lead", "behind", "ahead", "mass", "size", "question_length", *OWN)

_COLUMNS = [features.NAMES.index(name) for name in OWN]
# Ranks (from 0) that stand for what an unrelated issue scores here; short lists have no such ranks.
_BACKGROUND = slice(5, 25)
_LEAST_BACKGROUND = 3
_ALONE = 3.0


def rows(values: Floats, scores: Floats, total: int) -> Floats:
    """(leaders, NAMES), of a whole list, best first: (candidates, features.NAMES) and its scores."""
    leaders = min(LEADERS, len(scores))
    background = scores[_BACKGROUND]
    if len(background) < _LEAST_BACKGROUND:
        background = scores[1:] if len(scores) > 1 else scores - _ALONE
    usual = float(background.mean())
    second = scores[1] if len(scores) > 1 else usual
    weights = np.exp(scores - scores[0])
    best = scores[:leaders]
    length, shorter = (values[:leaders, features.NAMES.index(name)] for name in ("length", "shorter"))
    standing = np.stack(
        [
            best - usual,
            best - scores[0],
            np.where(np.arange(leaders) == 0, scores[0] - second, 0.0),
            (weights / weights.sum())[:leaders],
            np.full(leaders, np.log(max(total, 1))),
            length + shorter,
        ],
        axis=1,
    )
    return np.hstack([standing, values[:leaders, _COLUMNS]])
