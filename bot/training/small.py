"""Small repositories made of a large one, to learn what the text model says there (`bot/matching/readings.py`).

Readers judged the first candidates of large trackers, whose words have much in common as a rule. Among two hundred
issues people report the same thing in other words, and whatever is close stands out. So repositories of some sizes are
made of issues drawn from a file. Few pairs are left in them that are the same and were never marked: marks take the
place of readers.

A repository's first issues need not be made: they came when it was small itself.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bot.evaluation.labels import WARM, Labels, truth
from bot.matching.retrieval import known_author
from bot.replay import PastIssue
from bot.training.arrival import Arrival, Repository, opened
from bot.training.readings import Read

#: How many issues a repository has, and how many of these are made of a file.
SIZES = ((60, 40), (200, 30), (1_000, 6))
#: So many duplicates arrive in each, and so many other issues.
REPEATING, OTHERS = 10, 30
#: The share of arrivals that repeat something: for so many readers found the same among the first three candidates.
SHARE = 0.09
#: With fewer pairs than this a file is too small to make others of.
LEAST_PAIRS = 100

# All repositories of a file are made of so many of its issues, since each has to go through the text model once.
_DRAWN = 3_000


def small_repositories(
    text_model: Path | None,
    issues: Sequence[PastIssue],
    labels: Labels,
    progress: Callable[[int, int], None],
    seed: int,
) -> Iterator[Arrival]:
    """What arrives in repositories that are made of a file's issues, seeded; nothing where it has too few duplicates.

    `progress` is told how many issues there are to look at, and have been looked at since it was told last.
    """
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
    """Each of some issues, as if it were the next in a repository that has those that are there."""
    for place in there:
        repository.keep(repository.arrive(issues[place]))
    last = issues[there[-1]].created_at
    for past in (issues[place] for place in arriving):
        # It is not kept, and must not be closed later as if it were there.
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


#: Issues of a repository's beginning, of which all are looked at: those after so many, up to so many.
BEGINNING = (30, 4_000)


def beginning(issues: Sequence[PastIssue], labels: Labels) -> dict[int, float]:
    """Positions of the first issues, as far as it is known what they repeat → 1: each stands for itself."""
    least, most = BEGINNING
    last = min(most, grown_from(issues))
    return {position: 1.0 for position, _ in truth(issues[:last], labels, 0.0) if position >= least}


def grown_from(issues: Sequence[PastIssue]) -> int:
    """From which position on a repository is no more at its beginning."""
    return int(len(issues) * WARM)
