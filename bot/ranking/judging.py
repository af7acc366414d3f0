"""From hits to an order: titles compared (F5), the whole texts weighed, the cut made. Pure.

Two ways to rank (`relevance`): `title` lets the title scorer decide alone (F6); `learned`, the default, sorts by the
probability that the model gives. `threshold` is a filter on title similarity in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.model import Issue
from bot.ranking.features import Comparison, Subject
from bot.ranking.model import Model
from bot.ranking.rarity import Rarity, WordStats
from bot.ranking.scoring import ScoredTitle, score_candidates
from bot.ranking.text import read


class Relevance(StrEnum):
    """What candidates are sorted by."""

    TITLE = "title"
    LEARNED = "learned"


DEFAULT_RELEVANCE = Relevance.LEARNED


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate with its scores; all are in [0, 1]. `relevance` is what it was sorted by."""

    issue: Issue
    similarity: float
    title_ratio: float
    relevance: float
    confidence: float


def judge(
    target: Issue,
    candidates: Iterable[Issue],
    stats: WordStats,
    model: Model,
    *,
    relevance: Relevance,
    threshold: float,
) -> tuple[list[Judged], Rarity]:
    """The candidates at or over the title threshold, best first, and the rarity of the words that were weighed.

    Of equals the one with the more similar title comes first, then the older.
    """
    scored = score_candidates(target.title, candidates, threshold, None, target_number=target.number)
    features, rarity = weigh(target, scored, stats)
    judged = []
    for one, values in zip(scored, features, strict=True):
        probability = model.probability(values)
        by = one.similarity if relevance is Relevance.TITLE else probability
        judged.append(Judged(one.candidate, one.similarity, one.title_ratio, by, probability))
    # They come sorted by similarity and age, and sorting is stable.
    return sorted(judged, key=lambda one: -one.relevance), rarity


def weigh(
    target: Issue, scored: Sequence[ScoredTitle[Issue]], stats: WordStats
) -> tuple[list[tuple[float, ...]], Rarity]:
    """The features of each candidate, and the rarity of the words that were weighed."""
    subject = _subject(target)
    subjects = [_subject(one.candidate) for one in scored]
    # What must be looked up: all of the target's terms, of candidates those of their titles.
    words = set(subject.evidence.all).union(*(candidate.evidence.title for candidate in subjects))
    rarity = Rarity.of(stats, words)
    comparison = Comparison(subject, rarity)
    features = [comparison.features(candidate, one.similarity) for candidate, one in zip(subjects, scored, strict=True)]
    return features, rarity


def _subject(issue: Issue) -> Subject:
    return Subject(read(issue.title, issue.body), issue.created_at)
