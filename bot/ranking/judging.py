"""From hits to an order: titles compared (F5), the whole texts weighed, the best few judged. Pure.

This judges what no index holds; `bot/matching` judges what one does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from bot.model import NOBODY, Issue
from bot.ranking.by_hand import ANOTHER_CONFIDENCE
from bot.ranking.confidence import LEADERS, CloseComparison, Leader, bounds, standings
from bot.ranking.features import NAMES, Comparison, Subject
from bot.ranking.model import Model
from bot.ranking.rarity import Rarity, WordStats
from bot.ranking.scoring import ScoredTitle, score_candidates
from bot.text.another import is_another
from bot.text.messages import error_messages
from bot.text.terms import read

COVERAGES = slice(NAMES.index("title_coverage"), NAMES.index("reverse_coverage") + 1)
_SECONDS_A_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate and the probability that it reports the same thing, in [0, 1]."""

    issue: Issue
    confidence: float


def judge(
    target: Issue, candidates: Iterable[Issue], stats: WordStats, model: Model, issues: int | None = None
) -> tuple[list[Judged], Rarity]:
    """The candidates, most likely first, and the rarity of the words that were weighed.

    `issues` is how many the repository has, where anybody has counted them: numbers count pull requests as well.

    Of equals the one with the more similar title comes first, then the older. They are judged together: how far one
    stands out depends on the others, so that a list is judged as a whole before anything cuts it.
    """
    scored = score_candidates(target.title, candidates, 0.0, None)
    features, rarity = weigh(target, scored, stats)
    scores = [model.ranking.score(values) for values in features]
    # They come sorted by similarity and age, and sorting is stable.
    order = sorted(range(len(scored)), key=lambda place: -scores[place])
    leaders = order[:LEADERS]
    close = weigh_closely(target, [scored[place].candidate for place in leaders], stats)
    earlier = target.number - 1 if issues is None else min(target.number - 1, issues)
    standing = standings([scores[place] for place in order], earlier)
    rows = [(*standing[rank], *features[place][COVERAGES], *close[rank]) for rank, place in enumerate(leaders)]
    # Who ranks lower is never called likelier, until the bounds raise or lower single ones.
    falling = accumulate((model.probability(row, earlier) for row in rows), min)
    limits = [_limits(target, scored[place].candidate, row, rarity) for place, row in zip(leaders, close, strict=True)]
    bounded = [min(most, max(least, likely)) for likely, (least, most) in zip(falling, limits, strict=True)]
    confidences = dict(zip(leaders, bounded, strict=True))
    # Nor is who ranks below the leaders likelier than the last of them.
    rest = min(bounded, default=1.0)
    judged = [Judged(scored[place].candidate, confidences.get(place, rest)) for place in order]
    judged.sort(key=lambda one: -one.confidence)
    return judged, rarity


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


def weigh_closely(target: Issue, candidates: Sequence[Issue], stats: WordStats) -> list[tuple[float, ...]]:
    """The features of `CloseComparison` for each candidate. It looks up all their words: for the best few only."""
    mine, theirs = _leader(target), [_leader(issue) for issue in candidates]
    rarity = Rarity.of(stats, set(mine.evidence.all).union(*(leader.evidence.all for leader in theirs)))
    comparison = CloseComparison(mine, rarity)
    return [comparison.features(leader, _days(target, issue)) for leader, issue in zip(theirs, candidates, strict=True)]


def _limits(target: Issue, candidate: Issue, close: Sequence[float], rarity: Rarity) -> tuple[float, float]:
    """The least and the most that a leader's probability can be."""
    logins = {target.author.login, candidate.author.login}
    least, most = bounds(close, rarity.total, strangers=len(logins) == 2 and NOBODY not in logins)
    if is_another(target.title, candidate.title):
        most = min(most, ANOTHER_CONFIDENCE)
    return min(least, most), most


def _subject(issue: Issue) -> Subject:
    return Subject(read(issue.title, issue.body), issue.created_at)


def _leader(issue: Issue) -> Leader:
    messages = frozenset(error_messages(f"{issue.title}\n{issue.body}"))
    author = "" if issue.author.login == NOBODY else issue.author.login
    return Leader(read(issue.title, issue.body), messages, author)


def _days(one: Issue, other: Issue) -> float:
    return abs((one.created_at - other.created_at).total_seconds()) / _SECONDS_A_DAY
