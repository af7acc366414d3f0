"""What speaks for two issues being the same, as numbers. Each feature is a pure function of both texts and word rarity.

| feature | what it says |
|---|---|
| `title_coverage` | how much of the target's title, by rarity, the candidate's title or body has |
| `reverse_coverage` | how much of the candidate's title the target's title or body has |
| `title_cosine` | cosine of the titles' terms, weighted by rarity |
| `text_match` | BM25 of the target's whole text in the candidate's, rarity in place of IDF |
| `text_coverage` | how much of the target's whole text, by rarity, the candidate has |
| `rarest_shared` | rarity of the rarest shared term |
| `shared_terms` | log of how many terms are shared |
| `dice` | F5 on the titles |
| `same_topic` | 1 where both titles begin with the same `topic:`, -1 where with different ones |
| `days_apart` | log of the days between the two: the same trouble is reported in bursts |
| `target_length`, `candidate_length` | log of the numbers of terms: long texts share words by chance |
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from bot.ranking.rarity import Rarity
from bot.text.terms import Evidence

NAMES = (
    "title_coverage",
    "reverse_coverage",
    "title_cosine",
    "text_match",
    "text_coverage",
    "rarest_shared",
    "shared_terms",
    "dice",
    "same_topic",
    "days_apart",
    "target_length",
    "candidate_length",
)

# BM25's usual constants, and an average length; the true average hardly matters and would cost a table.
_K1, _B, _AVERAGE = 1.2, 0.75, 150


@dataclass(frozen=True, slots=True)
class Subject:
    """One issue as it is compared."""

    evidence: Evidence
    created_at: datetime


class Comparison:
    """One target, ready to be compared with many candidates: what depends on the target alone is computed once."""

    def __init__(self, target: Subject, rarity: Rarity) -> None:
        self._target = target
        self._rarity = rarity
        evidence = target.evidence
        self._title = {term: rarity(term) for term in evidence.title}
        self._title_sum = sum(self._title.values()) or 1.0
        self._title_norm = _norm(self._title)
        self._all = {term: (rarity(term), 1 + math.log(count)) for term, count in evidence.all.items()}
        self._all_sum = sum(rare * often for rare, often in self._all.values()) or 1.0

    def features(self, candidate: Subject, similarity: float) -> tuple[float, ...]:
        """The values of `NAMES` for one candidate, whose title is as similar as `similarity` says (F5)."""
        evidence = candidate.evidence
        theirs = {term: self._rarity(term) for term in evidence.title}
        ours, has, mine = self._title, evidence.all, self._target.evidence.all
        spread = _K1 * (1 - _B + _B * evidence.length / _AVERAGE)
        match = covered = rarest = 0.0
        shared = 0
        for term, (rare, often) in self._all.items():
            count = has.get(term)
            if count:
                shared += 1
                covered += rare * often
                match += rare * often * count * (_K1 + 1) / (count + spread)
                rarest = max(rarest, rare)
        days = abs((self._target.created_at - candidate.created_at).total_seconds()) / 86_400
        return (
            sum(rare for term, rare in ours.items() if term in has) / self._title_sum,
            sum(rare for term, rare in theirs.items() if term in mine) / (sum(theirs.values()) or 1.0),
            sum(rare * rare for term, rare in theirs.items() if term in ours) / (self._title_norm * _norm(theirs)),
            match,
            covered / self._all_sum,
            rarest,
            math.log1p(shared),
            similarity,
            _topics(self._target.evidence.topic, evidence.topic),
            math.log1p(days),
            math.log1p(self._target.evidence.length),
            math.log1p(evidence.length),
        )


def _norm(weights: Mapping[str, float]) -> float:
    return math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0


def _topics(one: str, other: str) -> float:
    if not one or not other:
        return 0.0
    return 1.0 if one == other else -1.0
