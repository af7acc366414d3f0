"""Makes `ranking/weights.json`, by which what GitHub's searches find is judged, from files with known duplicates.

Every file is replayed as it happened (`bot/replay/`). For each duplicate, and for a seeded sample of the other issues,
the candidates that the searches bring up are weighed and marked as the same issue or not. Two logistic regressions are
fitted, one after the other: what orders the candidates of one issue (`ranking/features.py`), and from its scores how
likely each of the first few is the same issue (`ranking/confidence.py`). Half of the issues are weighed with the word
statistics of everything before them, half with those of the last 200 issues, so that the model holds on the day of
installation too. For the probability, smaller repositories are made of large ones by leaving out most candidates, but
no true one: in a repository of two hundred issues the same likeness says more. The other issues weigh as many as they
stand for: nearly all new issues are no duplicates, and a probability that forgets it is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.evaluation.labels import Labels, read_labels, to_learn_from
from bot.finder import MOST_COMPARED, Finder, FinderSettings
from bot.ranking import confidence, features
from bot.ranking.confidence import standings
from bot.ranking.judging import COVERAGES, weigh, weigh_closely
from bot.ranking.rarity import CountedWords
from bot.ranking.scoring import score_candidates
from bot.replay import ReplayGitHub, read_archive
from bot.replay.archive import PastIssue
from bot.sources.vocabulary import FIRST_CONTACT, count_words
from bot.training.collecting import TOO_FEW, Progress, collect_all
from bot.training.fitting import Fitted, fit_probability

L2 = 1.0
# Candidates of one issue from which the probability is learned: those that a comment shows.
SHOWN = 5
# What is left of a repository's issues when a smaller one is made of it.
SHARES = (1.0, 0.3, 0.1, 0.03, 0.01)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Arrival:
    """One issue with its candidates weighed: a row for each in `ranking` and `close`, and whether it is the `same`.

    `earlier` is how many issues there were before it, `stands_for` how many issues of its kind it is a sample of.
    """

    earlier: int
    ranking: Floats
    close: Floats
    same: Floats
    stands_for: float


def collect(path: Path, progress: Progress, *, others: int, seed: int) -> list[Arrival]:
    """What one file has to teach."""
    issues, labels = read_archive(path), read_labels(path)
    return list(_weighed(issues, labels, to_learn_from(issues, labels, others, seed), progress))


def _weighed(
    issues: Sequence[PastIssue], labels: Labels, chosen: Mapping[int, float], progress: Progress
) -> Iterator[Arrival]:
    """The chosen issues in order; those without candidates teach nothing."""
    progress(len(chosen), 0)
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
                yield Arrival(position, np.array(rows), np.array(close), same, chosen[position])
            progress(0, 1)
        finder.notice(issue)


def fit_ranking(arrivals: Sequence[Arrival]) -> Fitted:
    """What orders candidates. Raises ValueError where nothing is known to be the same."""
    if not any(one.same.any() for one in arrivals):
        raise ValueError(TOO_FEW)
    rows = np.vstack([one.ranking for one in arrivals])
    same = np.concatenate([one.same for one in arrivals])
    weight = np.concatenate([np.full(len(one.same), one.stands_for) for one in arrivals])
    return fit_probability(features.NAMES, rows, same, weight, L2, {})


def fit_confidence(arrivals: Sequence[Arrival], ranking: Fitted, seed: int = 0) -> Fitted:
    """How likely the first few are, given how the first model orders them, in repositories of any size."""
    rng = np.random.default_rng(seed)
    rows, same, weight = [], [], []
    for share in SHARES:
        for one in (thinned(arrival, share, rng) for arrival in arrivals):
            scores = ranking.scores(one.ranking)
            order = np.argsort(-scores, kind="stable")
            for place, standing in zip(order[:SHOWN], standings(scores[order].tolist(), one.earlier), strict=False):
                rows.append([*standing, *one.ranking[place][COVERAGES], *one.close[place]])
                same.append(one.same[place])
                weight.append(one.stands_for)
    return fit_probability(confidence.NAMES, np.array(rows), np.array(same), np.array(weight), L2, {})


def thinned(arrival: Arrival, share: float, rng: np.random.Generator) -> Arrival:
    """The same arrival where only this share of the other issues is there; what it repeats always is."""
    kept = (rng.random(len(arrival.same)) < share) | (arrival.same > 0)
    return Arrival(
        int(arrival.earlier * share),
        arrival.ranking[kept],
        arrival.close[kept],
        arrival.same[kept],
        arrival.stands_for,
    )


def learn(files: Sequence[Path], progress: Progress, *, others: int, seed: int) -> dict[str, Any]:
    """What goes into `ranking/weights.json`."""
    arrivals = collect_all(partial(collect, others=others, seed=seed), files, progress)
    ranking = fit_ranking(arrivals)
    judged = fit_confidence(arrivals, ranking, seed)
    return {
        "arrivals": len(arrivals),
        "ranking": ranking.data(),
        "confidence": judged.data(),
    }
