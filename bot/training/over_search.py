"""Makes `ranking/weights.json`, by which what GitHub's searches find is judged, from files with known duplicates.

Every file is replayed as it happened (`bot/replay/`). For each duplicate, and for a seeded sample of the other issues,
the candidates that the searches bring up are weighed and marked as the same issue or not. Two logistic regressions are
fitted, one after the other: what orders the candidates of one issue (`ranking/features.py`), and from its scores how
likely each of the first few is the same issue (`ranking/confidence.py`). Half of the issues are weighed with the word
statistics of everything before them, half with those of the last 200 issues, so that the model holds on the day of
installation too. For the probability, smaller repositories are made of large ones (`smaller.py`), and how much less to
believe in small ones is learned last and by itself, as `over_index.py` does it. The other issues weigh as many as they
stand for: nearly all new issues are no duplicates, and a probability that forgets it is wrong.

Files may lack authors. `PRIOR` was set by hand, and is what the feature keeps then: who files two issues within days
files a series.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from bot.finder import MOST_COMPARED, Finder, FinderSettings
from bot.index.postings.packing import Floats, Integers
from bot.model import Issue
from bot.ranking import confidence, features
from bot.ranking.confidence import LATELY_DAYS, standings
from bot.ranking.judging import COVERAGES, weigh, weigh_closely
from bot.ranking.rarity import CountedWords
from bot.ranking.scoring import score_candidates
from bot.replay import PastIssue, ReplayGitHub
from bot.sources.vocabulary import FIRST_CONTACT, count_words
from bot.training.arrival import Arrival
from bot.training.collecting import TOO_FEW, Progress, Repository, collect_all
from bot.training.fitting import Fitted, fit_probability
from bot.training.probability import SHOWN, Leaders, Probability, fit_leaders
from bot.training.smaller import LATER_ALONE, of_any_size

L2 = 1.0
#: Set by hand, see above.
PRIOR = {"same_author_lately": -1.0}

#: The features of an arrival's candidates: those that rank them, and those of `ranking.confidence.CloseComparison`.
NAMES = (*features.NAMES, *confidence.NAMES[confidence.NAMES.index("same_text") :])

_RANKING, _CLOSE = slice(len(features.NAMES)), slice(len(features.NAMES), None)
_DAYS, _LATELY = NAMES.index("days_apart"), NAMES.index("same_author_lately")


def learn(files: Sequence[Path], progress: Progress, *, others: int, seed: int) -> dict[str, Any]:
    """What goes into `ranking/weights.json`."""
    arrivals = collect_all(opened, files, progress, others=others, seed=seed)
    ranking = fit_ranking(arrivals)
    return {
        "arrivals": len(arrivals),
        "ranking": ranking.data(),
        **fit_confidence(arrivals, ranking, seed).data(),
    }


def fit_ranking(arrivals: Sequence[Arrival]) -> Fitted:
    """What orders candidates. Raises ValueError where nothing is known to be the same."""
    arrivals = [one for one in arrivals if not one.young]
    if not any(one.same.any() for one in arrivals):
        raise ValueError(TOO_FEW)
    rows = np.vstack([one.values[:, _RANKING] for one in arrivals])
    same = np.concatenate([one.same for one in arrivals])
    weight = np.concatenate([np.full(len(one.same), one.stands_for) for one in arrivals])
    return fit_probability(features.NAMES, rows, same, weight, L2, {})


def fit_confidence(arrivals: Sequence[Arrival], ranking: Fitted, seed: int = 0) -> Probability:
    """How likely the first few are, given how the first model orders them, and what makes that hold in any size."""
    grown = [one for one in arrivals if not one.young]
    lists = [_leaders(one, ranking) for _, one in of_any_size(grown, seed, shrunk)]
    small = [_leaders(one, ranking) for one in arrivals if one.young]
    small += [_leaders(one, ranking) for _, one in of_any_size(grown, seed, shrunk, LATER_ALONE)]
    return fit_leaders(confidence.NAMES, lists, small, L2, PRIOR)


@contextmanager
def opened() -> Iterator[Repository]:
    """An empty repository with GitHub's searches."""
    yield _Searched()


class _Searched:
    """Every other issue is weighed as on the day of installation, see above."""

    def __init__(self) -> None:
        self._github, self._everything = ReplayGitHub(), CountedWords()
        self._finder = Finder(self._github, words=self._everything, settings=FinderSettings(hybrid=False))

    def arrive(self, past: PastIssue) -> Issue:
        return self._github.arrive(past)

    def compared(self, issue: Issue) -> tuple[Integers, Floats]:
        hits = self._finder.gather(issue).hits[: MOST_COMPARED + 1]
        candidates = [hit.issue for hit in hits if hit.issue.number < issue.number]
        scored = score_candidates(issue.title, candidates, 0.0, None)
        ranked = [one.candidate for one in scored]
        stats = self._everything
        if issue.number % 2 == 0:
            stats = CountedWords()
            count_words(stats, self._github.recent_issues(issue.repo, FIRST_CONTACT + 1)[1:])
        rows, _ = weigh(issue, scored, stats)
        close = weigh_closely(issue, ranked, stats)
        values = [(*row, *more) for row, more in zip(rows, close, strict=True)]
        return np.array([one.number for one in ranked], dtype=np.int64), np.array(values).reshape(-1, len(NAMES))

    def keep(self, issue: Issue) -> None:
        self._finder.notice(issue)


def shrunk(values: Floats, left: float) -> Floats:
    """The features of candidates where only this part of the time is left (`smaller.Shrink`)."""
    values = values.copy()
    days = np.expm1(values[:, _DAYS]) / left
    values[:, _DAYS] = np.log1p(days)
    values[:, _LATELY] *= days < LATELY_DAYS
    return values


def _leaders(arrival: Arrival, ranking: Fitted) -> Leaders:
    scores = ranking.scores(arrival.values[:, _RANKING])
    best = np.argsort(-scores, kind="stable")
    first = arrival.values[best[:SHOWN]]
    told = np.array(standings(scores[best].tolist(), arrival.earlier)[:SHOWN])
    rows = np.hstack([told, first[:, COVERAGES], first[:, _CLOSE]])
    return Leaders(arrival.earlier, rows, arrival.same[best[:SHOWN]], arrival.stands_for)
