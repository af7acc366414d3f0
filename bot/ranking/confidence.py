"""From an order to a probability: how far a candidate stands out, and what more the best few have in common.

The score that ranks candidates (`features.py`) is good at the order within one list and poor across lists: how high
unrelated issues score depends on the repository, its size and how much the issue says. So the probability is learned in
a second step, from the score *relative to its list* and from evidence that is looked up for the best few alone. In a
third step the log-odds are put right by the size of the repository (`size.py`).

| feature | what it says |
|---|---|
| `lead` | the score above the background: the mean score of ranks 6 to 25 |
| `behind` | the score less that of the first |
| `ahead` | of the first: its score less that of the second |
| `score` | the score itself |
| `size` | log of how many earlier issues there are: among many, one matches by chance as well |
| `title_coverage`, `reverse_coverage` | as in `features.py` |
| `same_text` | Jaccard of both whole texts' telling terms, by rarity: 1 for a copy |
| `of_target`, `of_candidate` | how much of either text, by rarity, the other has |
| `substance` | log of how much the shorter of the two says at all |
| `same_message` | 1 where both quote the same error message |
| `rare_shared` | rarity of the five rarest shared terms, added up |
| `same_author` | 1 where one person wrote both: people seldom report the same thing twice |
| `same_author_lately` | the same within three days: a series of related issues is filed in a row |
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bot.ranking.by_hand import COPY_CONFIDENCE, LITTLE_CONFIDENCE, NO_MORE_THAN_A_WORD
from bot.ranking.rarity import Rarity
from bot.ranking.size import SMALL, size
from bot.text.terms import Evidence

NAMES = (
    "lead",
    "behind",
    "ahead",
    "score",
    "size",
    "title_coverage",
    "reverse_coverage",
    "same_text",
    "of_target",
    "of_candidate",
    "substance",
    "same_message",
    "rare_shared",
    "same_author",
    "same_author_lately",
)

LEADERS = 20
"""How many of a list are given a probability, the best: what comes after is at most as likely as the last."""

BACKGROUND = slice(5, 25)
"""Ranks (from 0) that stand for what an unrelated issue scores here; short lists have no such ranks."""

LEAST_BACKGROUND = 3
"""Where fewer have such ranks, all but the first stand for it."""

ALONE = 3.0
"""How far the only one of a list stands above it."""

# Rarity below which a term is anybody's, forms and templates included.
_TELLING = 0.35
LATELY_DAYS = 3.0
# What two texts share below this is as often the output of one command or the text of one form (docs/finder.md).
_COPY = 0.8
# In `substance`: about two telling words. Such issues are rare in the files, and common in small repositories.
_LITTLE = 0.6


@dataclass(frozen=True, slots=True)
class Leader:
    """What is known of an issue that is compared closely; `author` is empty where nobody knows."""

    evidence: Evidence
    messages: frozenset[str]
    author: str


def standings(scores: Sequence[float], earlier: int) -> list[tuple[float, ...]]:
    """`lead`, `behind`, `ahead`, `score` and `size` of the leaders of a list.

    `scores` (logits) are those of the whole list, best first; `earlier` is how many issues the repository had before.
    """
    if not scores:
        return []
    background = scores[BACKGROUND]
    if len(background) < LEAST_BACKGROUND:
        background = scores[1:] or [scores[0] - ALONE]
    usual = sum(background) / len(background)
    second = scores[1] if len(scores) > 1 else usual
    whole = size(earlier)
    return [
        (score - usual, score - scores[0], scores[0] - second if rank == 0 else 0.0, score, whole)
        for rank, score in enumerate(scores[:LEADERS])
    ]


class CloseComparison:
    """One target, ready to be compared closely with a few candidates. `rarity` must know all terms of both."""

    def __init__(self, target: Leader, rarity: Rarity) -> None:
        self._target = target
        self._rarity = Rarity(max(rarity.total, SMALL), rarity.counts)
        self._terms = self._telling(target.evidence)
        self._sum = sum(self._terms.values())

    def features(self, candidate: Leader, days: float) -> tuple[float, ...]:
        """The features from `same_text` on. `days` is the time between the two."""
        theirs = self._telling(candidate.evidence)
        total = sum(theirs.values())
        shared = sorted((weight for term, weight in self._terms.items() if term in theirs), reverse=True)
        both = sum(shared)
        same_author = bool(candidate.author) and candidate.author == self._target.author
        return (
            _share(both, self._sum + total - both),
            _share(both, self._sum),
            _share(both, total),
            math.log1p(min(self._sum, total)),
            float(bool(self._target.messages & candidate.messages)),
            sum(shared[:5]),
            float(same_author),
            float(same_author and days < LATELY_DAYS),
        )

    def _telling(self, evidence: Evidence) -> dict[str, float]:
        weights = ((term, self._rarity(term) - _TELLING) for term in evidence.all)
        return {term: weight for term, weight in weights if weight > 0}


def bounds(close: Sequence[float], counted: int, *, strangers: bool) -> tuple[float, float]:
    """The least and the most that the probability of a candidate can be, whatever the model says; both set by hand.

    `close` are the features of `CloseComparison`, `counted` the issues that the rarities come from; `strangers` is
    whether two different people are known to have written the two. Their copies have at least .25. One author's copy is
    no such case, nor is one where nobody knows: people file series of issues from one text, and empty forms. Where one
    of the two says next to nothing, what they share is next to nothing as well: at most .1. The same holds for a common
    word that two issues of a small repository share.
    """
    same_text, of_target, of_candidate, substance, *_ = close
    shares_little = counted < SMALL and max(of_target, of_candidate) < NO_MORE_THAN_A_WORD
    if substance < _LITTLE or shares_little:
        return 0.0, LITTLE_CONFIDENCE
    return (COPY_CONFIDENCE if same_text >= _COPY and strangers else 0.0), 1.0


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0
