"""Learns from files: each issue is compared, as it arrived, with those before it.

The log-odds of a small repository need data of their own (`bot/search/matching/probability.py`). Readers judged the
first candidates of large trackers, whose words have much in common as a rule. Among two hundred issues people report
the same thing in other words, and whatever is close stands out. So small repositories are made of issues drawn from a
file. Few of their pairs are the same without being marked: marks take the place of readers.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bot.domain.entities import Issue
from bot.domain.errors import UserError
from bot.quality.evaluation.labels import WARM, Labels, read_labels, to_learn_from, truth
from bot.quality.replay import PastIssue, read_archive
from bot.quality.training.arrival import Arrival, Repository, opened
from bot.quality.training.readings import Read, Reading, read_readings
from bot.search.index.arrays import Integers
from bot.search.matching.retrieval import known_author

#: Called with how many more issues are to be looked at, and how many have been, since the last call.
Progress = Callable[[int, int], None]

#: Why files teach nothing.
TOO_FEW = "too few issues there are known as duplicates (duplicate_of) of one that came before them"


@dataclass(frozen=True, slots=True)
class Material:
    """A file of issues to learn from.

    `readings` is a file of what careful readers said of them. `text_model` is the folder of a text model that was not
    tuned on these issues, by which what was read is compared (None: the shipped model).
    """

    issues: Path
    readings: Path | None = None
    text_model: Path | None = None


def collect(material: Material, progress: Progress, *, others: int, seed: int) -> list[Arrival]:
    """The arrivals of one file: duplicates, the first issues, a seeded sample of the others, and what was read."""
    issues, labels = read_archive(material.issues), read_labels(material.issues)
    said = read_readings(material.readings) if material.readings else {}
    chosen = beginning(issues, labels) | to_learn_from(issues, labels, others, seed)
    read = {position: said[str(past.id)] for position, past in enumerate(issues) if str(past.id) in said}
    if said and not read:
        raise UserError(f"{material.readings}: none of the issues that were read is in {material.issues}")
    progress(len(chosen.keys() | read.keys()), 0)
    with opened(material.text_model) as repository:
        arrivals = list(_compared(repository, issues, labels, chosen, read, progress))
    if not read:
        return arrivals
    return [*arrivals, *small_repositories(material.text_model, issues, labels, progress, seed)]


def _compared(
    repository: Repository,
    issues: Sequence[PastIssue],
    labels: Labels,
    chosen: Mapping[int, float],
    read: Mapping[int, Reading],
    progress: Progress,
) -> Iterator[Arrival]:
    """The chosen issues in order, without those that have no candidates."""
    grown = grown_from(issues)
    for position, past in enumerate(issues):
        issue = repository.arrive(past)
        if position in chosen or position in read:
            numbers, values = repository.compared(issue)
            ids = [issues[number - 1].id for number in numbers.tolist()]
            same = [float(labels.group[id] == labels.group[past.id]) for id in ids]
            if same:
                said = _read(repository, issue, numbers, ids, read[position]) if position in read else None
                back, young = position - numbers, position < grown
                yield Arrival(position, values, back, np.array(same), chosen.get(position, 0.0), young, said)
            progress(0, 1)
        repository.keep(issue)


def _read(
    repository: Repository, issue: Issue, numbers: Integers, ids: Sequence[int | str], said: Reading
) -> Read | None:
    """What was said of the candidates that were read; None if none was."""
    places = np.array([place for place, id in enumerate(ids) if str(id) in said.same], dtype=np.int64)
    if not len(places):
        return None
    same = np.array([float(said.same[str(ids[place])]) for place in places.tolist()])
    likeness = repository.likeness(issue, numbers, places)
    return Read(same, likeness, said.weight, signed=bool(known_author(issue.author)))


#: The sizes of the small repositories, and how many of each size are made of a file.
SIZES = ((60, 40), (200, 30), (1_000, 6))
#: How many duplicates arrive in each, and how many other issues.
REPEATING, OTHERS = 10, 30
#: The share of arrivals that repeat something, by what readers found among the first three candidates.
SHARE = 0.09
#: A file with fewer pairs is too small to make repositories of.
LEAST_PAIRS = 100

# All small repositories are made of this many issues of a file, since each must be embedded by the text model once.
_DRAWN = 3_000


def small_repositories(
    text_model: Path | None,
    issues: Sequence[PastIssue],
    labels: Labels,
    progress: Progress,
    seed: int,
) -> Iterator[Arrival]:
    """The arrivals in small repositories made of a file's issues; none if the file has too few duplicates."""
    rng = random.Random(seed)  # noqa: S311
    groups: dict[object, list[int]] = defaultdict(list)
    for place, past in enumerate(issues):
        groups[labels.group[past.id]].append(place)
    pairs = [(group[0], group[1]) for group in groups.values() if len(group) > 1]
    if len(pairs) < LEAST_PAIRS:
        return
    progress(sum(many * (REPEATING + OTHERS) for _, many in SIZES), 0)
    drawn = rng.sample(range(len(issues)), min(_DRAWN, len(issues)))
    for size, many in SIZES:
        for _ in range(many):
            chosen = rng.sample(pairs, REPEATING)
            again = {later for _, later in chosen}
            there = sorted({*rng.sample(drawn, min(size, len(drawn))), *(first for first, _ in chosen)} - again)
            known = {labels.group[issues[place].id] for place in there}
            others = [place for place in rng.sample(drawn, min(2 * OTHERS, len(drawn))) if place not in there]
            new = [place for place in others if labels.group[issues[place].id] not in known][:OTHERS]
            with opened(text_model) as repository:
                yield from _arriving(repository, issues, labels, there, [*sorted(again), *new])
            progress(0, REPEATING + OTHERS)


def _arriving(
    repository: Repository, issues: Sequence[PastIssue], labels: Labels, there: Sequence[int], arriving: Sequence[int]
) -> Iterator[Arrival]:
    """Each of the `arriving` issues, as if it were the next in a repository of the issues `there`."""
    for place in there:
        repository.keep(repository.arrive(issues[place]))
    last = issues[there[-1]].created_at
    for past in (issues[place] for place in arriving):
        # It is not kept, so it must not be closed later.
        issue = repository.arrive(replace(past, created_at=max(past.created_at, last), closed_at=None))
        numbers, values = repository.compared(issue)
        if not len(numbers):
            continue
        mine = labels.group[past.id]
        same = np.array([float(labels.group[issues[there[number - 1]].id] == mine) for number in numbers.tolist()])
        weight = SHARE / REPEATING if same.any() else (1 - SHARE) / OTHERS
        likeness = repository.likeness(issue, numbers, np.arange(len(numbers)))
        read = Read(same, likeness, weight, signed=bool(known_author(issue.author)), small=True)
        yield Arrival(len(there), values, len(there) - numbers, same, 0.0, read=read)


#: The first issues of a repository are all looked at: from this position on, up to this one.
BEGINNING = (30, 4_000)


def beginning(issues: Sequence[PastIssue], labels: Labels) -> dict[int, float]:
    """The positions of the first issues for which it is known what they repeat. Each stands for itself, hence 1."""
    least, most = BEGINNING
    last = min(most, grown_from(issues))
    return {position: 1.0 for position, _ in truth(issues[:last], labels, 0.0) if position >= least}


def grown_from(issues: Sequence[PastIssue]) -> int:
    """The position at which a repository's beginning ends."""
    return int(len(issues) * WARM)
