"""Makes `ranking/weights.json` from files of issues with known duplicates.

Every file is replayed as it happened (`bot/replay/`). For each duplicate, and for a seeded sample of the other issues,
the candidates that the searches bring up are weighed (`ranking/features.py`) and marked as the same issue or not; the
model is a logistic regression on them. Each issue is weighed twice, with the word statistics of everything before it
and with those of the last 200 issues, so that the model holds on the day of installation too.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.finder import MOST_COMPARED, Finder, FinderSettings
from bot.ranking.features import NAMES
from bot.ranking.judging import weigh
from bot.ranking.rarity import CountedWords
from bot.ranking.scoring import score_candidates
from bot.replay import ReplayGitHub, read_archive
from bot.replay.archive import PastIssue
from bot.sources.vocabulary import FIRST_CONTACT, count_words

WARM = 0.2
OTHERS = 3_000
L2 = 1.0

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Examples:
    """Weighed candidates: `features` has a row for each, `same` its truth, `weight` how many others it stands for."""

    features: Floats
    same: Floats
    weight: Floats
    duplicates: int
    others: int


@dataclass(frozen=True, slots=True)
class Labels:
    """What a file says of duplicates. `group` joins issues that report the same thing; `unclear` ones are left out."""

    group: Mapping[int | str, int | str]
    marked: frozenset[int | str]
    unclear: frozenset[int | str]


def read_labels(path: Path) -> Labels:
    """The union of all `duplicate_of` links of a file, and the issues whose truth is not known."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        rows: list[dict[str, Any]] = [json.loads(line) for line in lines if line.strip()]
    parent: dict[int | str, int | str] = {row["id"]: row["id"] for row in rows}

    def root(node: int | str) -> int | str:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    marked = [row for row in rows if row.get("duplicate_of") in parent]
    for row in marked:
        parent[root(row["id"])] = root(row["duplicate_of"])
    doubts = ("maybe_related", "body_mentions_master", "dup_unknown_master")
    return Labels(
        {row["id"]: root(row["id"]) for row in rows},
        frozenset(row["id"] for row in marked),
        frozenset(row["id"] for row in rows if any(row.get(doubt) for doubt in doubts)),
    )


def collect(
    path: Path, *, others: int = OTHERS, seed: int = 0, progress: Callable[[int, int], None] = lambda done, of: None
) -> Examples:
    """The examples of one file. `progress` is told how many of its issues have arrived."""
    issues, labels = read_archive(path), read_labels(path)
    first_of = _first_of(issues, labels)
    late = range(int(len(issues) * WARM), len(issues))
    clear = [n for n in late if issues[n].id not in labels.unclear]
    repeated = [n for n in clear if issues[n].id in labels.marked and first_of[labels.group[issues[n].id]] < n]
    fresh = [n for n in clear if first_of[labels.group[issues[n].id]] == n]
    sample = random.Random(seed).sample(fresh, min(others, len(fresh)))  # noqa: S311 - a sample, no secret
    stands_for = len(fresh) / max(len(sample), 1)
    chosen = dict.fromkeys(repeated, 1.0) | dict.fromkeys(sample, stands_for)
    features, same, weight = [], [], []
    for position, rows, numbers in _weighed(issues, chosen, progress):
        group = labels.group[issues[position].id]
        features += rows
        same += [float(labels.group[issues[number - 1].id] == group) for number in numbers]
        weight += [chosen[position]] * len(rows)
    return Examples(np.array(features), np.array(same), np.array(weight), len(repeated), len(sample))


def _first_of(issues: Sequence[PastIssue], labels: Labels) -> dict[int | str, int]:
    first: dict[int | str, int] = {}
    for position, issue in enumerate(issues):
        first.setdefault(labels.group[issue.id], position)
    return first


def _weighed(
    issues: Sequence[PastIssue], chosen: Mapping[int, float], progress: Callable[[int, int], None]
) -> Iterator[tuple[int, list[tuple[float, ...]], list[int]]]:
    """(position, features of its candidates, their numbers), once for each kind of word statistics."""
    github, everything = ReplayGitHub(), CountedWords()
    finder = Finder(github, words=everything, settings=FinderSettings(hybrid=False))
    for position, past in enumerate(issues):
        issue = github.arrive(past)
        progress(position + 1, len(issues))
        if position in chosen:
            hits = finder.gather(issue).hits[: MOST_COMPARED + 1]
            candidates = [hit.issue for hit in hits if hit.issue.number < issue.number]
            scored = score_candidates(issue.title, candidates, 0.0, None)
            recent = CountedWords()
            count_words(recent, github.recent_issues(issue.repo, FIRST_CONTACT + 1)[1:])
            for stats in (everything, recent):
                rows, _ = weigh(issue, scored, stats)
                yield position, rows, [one.candidate.number for one in scored]
        finder.notice(issue)


def fit(parts: Sequence[Examples]) -> tuple[dict[str, float], float]:
    """Weights by feature, and the intercept, that make the examples most probable: Newton's method, L2 on weights."""
    features = np.vstack([part.features for part in parts])
    same, weight = (np.concatenate([getattr(part, name) for part in parts]) for name in ("same", "weight"))
    mean, scale = features.mean(axis=0), features.std(axis=0) + 1e-9
    rows = np.hstack([(features - mean) / scale, np.ones((len(features), 1))])
    penalty = np.diag([L2] * len(NAMES) + [0.0])
    beta = np.zeros(rows.shape[1])
    for _ in range(50):
        probability = 1 / (1 + np.exp(-np.clip(rows @ beta, -30, 30)))
        slope = rows.T @ (weight * (probability - same)) + penalty @ beta
        curvature = (rows * (weight * probability * (1 - probability))[:, None]).T @ rows + penalty
        step = np.linalg.solve(curvature, slope)
        beta -= step
        if float(np.abs(step).max()) < 1e-7:
            break
    weights = beta[:-1] / scale
    intercept = float(beta[-1] - weights @ mean)
    return {name: round(float(value), 5) for name, value in zip(NAMES, weights, strict=True)}, round(intercept, 5)
