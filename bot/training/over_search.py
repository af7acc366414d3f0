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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bot.evaluation.labels import Labels, read_labels, to_learn_from
from bot.finder import MOST_COMPARED, Finder, FinderSettings
from bot.index.packing import Floats, Integers
from bot.ranking import confidence, features
from bot.ranking.confidence import LATELY_DAYS, standings
from bot.ranking.judging import COVERAGES, weigh, weigh_closely
from bot.ranking.rarity import CountedWords
from bot.ranking.scoring import score_candidates
from bot.replay import ReplayGitHub, read_archive
from bot.replay.archive import PastIssue
from bot.sources.vocabulary import FIRST_CONTACT, count_words
from bot.training.beginning import beginning, grown_from
from bot.training.calibration import Firsts, fit_calibration
from bot.training.collecting import TOO_FEW, Progress, collect_all
from bot.training.fitting import Fitted, fit_probability
from bot.training.smaller import LATER, LATER_ALONE, what_is_left

L2 = 1.0
#: Set by hand, see above.
PRIOR = {"same_author_lately": -1.0}
# Candidates of one issue from which the probability is learned: those that a comment shows.
SHOWN = 5
# What is left of a repository's issues when a smaller one is made of it.
SHARES = (1.0, 0.3, 0.1, 0.03, 0.01)

_DAYS = features.NAMES.index("days_apart")
# `close` has the last of all features.
_LATELY = confidence.NAMES.index("same_author_lately") - len(confidence.NAMES)


@dataclass(frozen=True, slots=True)
class Arrival:
    """One issue with its candidates weighed: a row for each in `ranking` and `close`, which of the issues before it
    each is, counted back from 0, and whether it is the `same`.

    `earlier` is how many issues there were before it, `stands_for` how many issues of its kind it is a sample of.
    `young` is one of a repository's first, which came when it was small itself.
    """

    earlier: int
    ranking: Floats
    close: Floats
    back: Integers
    same: Floats
    stands_for: float
    young: bool = False


def collect(path: Path, progress: Progress, *, others: int, seed: int) -> list[Arrival]:
    """What one file has to teach."""
    issues, labels = read_archive(path), read_labels(path)
    chosen = beginning(issues, labels) | to_learn_from(issues, labels, others, seed)
    return list(_weighed(issues, labels, chosen, progress))


def _weighed(
    issues: Sequence[PastIssue], labels: Labels, chosen: Mapping[int, float], progress: Progress
) -> Iterator[Arrival]:
    """The chosen issues in order; those without candidates teach nothing."""
    progress(len(chosen), 0)
    grown = grown_from(issues)
    github, everything = ReplayGitHub(), CountedWords()
    finder = Finder(github, words=everything, settings=FinderSettings(hybrid=False))
    for position, past in enumerate(issues):
        issue = github.arrive(past)
        if position in chosen:
            hits = finder.gather(issue).hits[: MOST_COMPARED + 1]
            candidates = [hit.issue for hit in hits if hit.issue.number < issue.number]
            scored = score_candidates(issue.title, candidates, 0.0, None)
            ranked = [one.candidate for one in scored]
            group = labels.group[past.id]
            same = np.array([float(labels.group[issues[other.number - 1].id] == group) for other in ranked])
            stats = everything
            if position % 2:
                stats = CountedWords()
                count_words(stats, github.recent_issues(issue.repo, FIRST_CONTACT + 1)[1:])
            if scored:
                rows, _ = weigh(issue, scored, stats)
                close = weigh_closely(issue, ranked, stats)
                back, young = position - np.array([one.number for one in ranked]), position < grown
                yield Arrival(position, np.array(rows), np.array(close), back, same, chosen[position], young)
            progress(0, 1)
        finder.notice(issue)


def fit_ranking(arrivals: Sequence[Arrival]) -> Fitted:
    """What orders candidates. Raises ValueError where nothing is known to be the same."""
    arrivals = [one for one in arrivals if not one.young]
    if not any(one.same.any() for one in arrivals):
        raise ValueError(TOO_FEW)
    rows = np.vstack([one.ranking for one in arrivals])
    same = np.concatenate([one.same for one in arrivals])
    weight = np.concatenate([np.full(len(one.same), one.stands_for) for one in arrivals])
    return fit_probability(features.NAMES, rows, same, weight, L2, {})


def fit_confidence(arrivals: Sequence[Arrival], ranking: Fitted, seed: int = 0) -> tuple[Fitted, Fitted]:
    """How likely the first few are, given how the first model orders them, and what makes that hold in any size."""
    grown = [one for one in arrivals if not one.young]
    lists = smaller(grown, seed, LATER)
    rows, same, weight = _leaders(lists, ranking, SHOWN)
    likely = fit_probability(confidence.NAMES, rows, same, weight, L2, PRIOR)
    small = [*(one for one in arrivals if one.young), *smaller(grown, seed, LATER_ALONE)]
    return likely, fit_calibration(_firsts(lists, ranking, likely), _firsts(small, ranking, likely))


def smaller(arrivals: Sequence[Arrival], seed: int, later: float) -> list[Arrival]:
    """The same arrivals in repositories of any size, made as `smaller.py` says."""
    repeating = sum(bool(one.same.any()) for one in arrivals)
    made = []
    for place, share in enumerate(SHARES):
        rng = np.random.default_rng((seed, place))
        there = [one for one in (thinned(arrival, share, rng, later) for arrival in arrivals) if one is not None]
        left = sum(bool(one.same.any()) for one in there)
        # As many repeat something in small repositories as in large ones.
        made += [replace(one, stands_for=one.stands_for * repeating / left) if one.same.any() else one for one in there]
    return made


def thinned(arrival: Arrival, share: float, rng: np.random.Generator, later: float) -> Arrival | None:
    """The same arrival in a repository that has this share of the issues; None if what it repeats is not there."""
    kept = what_is_left(arrival.back, arrival.same, arrival.earlier, share, rng, later)
    if kept is None:
        return None
    ranking, close = arrival.ranking[kept], arrival.close[kept]
    # All takes as long as it took in the whole.
    days = np.expm1(ranking[:, _DAYS]) / share**later
    ranking[:, _DAYS] = np.log1p(days)
    close[:, _LATELY] *= days < LATELY_DAYS
    return replace(
        arrival,
        earlier=int(arrival.earlier * share),
        ranking=ranking,
        close=close,
        back=arrival.back[kept],
        same=arrival.same[kept],
    )


def _leaders(arrivals: Iterable[Arrival], ranking: Fitted, most: int) -> tuple[Floats, Floats, Floats]:
    """Of the first few of each list: (leaders, confidence.NAMES), whether each is the same, and what it stands for."""
    rows, same, weight = [], [], []
    for one in arrivals:
        scores = ranking.scores(one.ranking)
        order = np.argsort(-scores, kind="stable")
        for place, standing in zip(order[:most], standings(scores[order].tolist(), one.earlier), strict=False):
            rows.append([*standing, *one.ranking[place][COVERAGES], *one.close[place]])
            same.append(one.same[place])
            weight.append(one.stands_for)
    return np.array(rows).reshape(-1, len(confidence.NAMES)), np.array(same), np.array(weight)


def _firsts(arrivals: Sequence[Arrival], ranking: Fitted, likely: Fitted) -> Firsts:
    told = [one for one in arrivals if len(one.same)]
    rows, same, weight = _leaders(told, ranking, 1)
    return Firsts.of(likely.scores(rows), [one.earlier for one in told], same, weight)


def learn(files: Sequence[Path], progress: Progress, *, others: int, seed: int) -> dict[str, Any]:
    """What goes into `ranking/weights.json`."""
    arrivals = collect_all(partial(collect, others=others, seed=seed), files, progress)
    ranking = fit_ranking(arrivals)
    likely, right = fit_confidence(arrivals, ranking, seed)
    return {
        "arrivals": len(arrivals),
        "ranking": ranking.data(),
        "confidence": likely.data(),
        "calibration": right.data(),
    }
