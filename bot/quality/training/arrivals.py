"""Issues to learn from, as they arrive in a repository: each with its candidates, marks, and readers' verdicts.

A file of readers' verdicts (P1) has a line for each arrival that was read: `{"id", "weight", "verdicts": {CANDIDATE:
VERDICT}}`. A verdict is `same`, `related` or `different`; `weight` is how many arrivals this one stands for.

The log-odds of small repositories need data of their own, since readers judged candidates in large trackers only. Small
repositories are therefore made of issues drawn from a file, and marks take the place of readers there.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bot.domain.entities import Issue
from bot.domain.errors import UserError
from bot.quality.evaluation.trial import WARM, Labels, read_labels, to_learn_from, truth
from bot.quality.replay.archive import PastIssue, read_archive
from bot.quality.replay.replay import IndexMirror, ReplayGitHub
from bot.quality.training.fitting import Fitted, fit_probability
from bot.search.embedding.local import TextModel, choose_embedder
from bot.search.index import Index, TextAnalyser
from bot.search.index.arrays import Floats, Integers
from bot.search.index.index import ephemeral_index
from bot.search.matching import Matcher, probability
from bot.search.matching.probability import TextSimilarity
from bot.search.matching.retrieval import known_author

#: How strongly weights are drawn to 0; there are three of them, and thousands of pairs.
L2_READINGS = 1.0

_VERDICTS = ("same", "related", "different")


@dataclass(frozen=True, slots=True)
class ReaderVerdicts:
    """What readers said of one arrival: whether each candidate, by its id in the file, is the same."""

    weight: float
    same: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class ReadCandidates:
    """The candidates of an arrival that were read: whether each is the `same`, and their `likeness` by the text model.

    `weight` is how many arrivals this one stands for, `signed` whether its author is known. `small` marks an arrival in
    a repository that was made for training.
    """

    same: Floats
    likeness: TextSimilarity
    weight: float
    signed: bool
    small: bool = False


def read_verdicts(path: Path) -> dict[str, ReaderVerdicts]:
    """Readers' verdicts by the arrival's id. Raises UserError naming a wrong line."""
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
            verdicts, weight = {str(id): said for id, said in row["verdicts"].items()}, float(row["weight"])
            if weight <= 0 or not set(verdicts.values()) <= set(_VERDICTS):
                raise ValueError(f"a weight is above 0, and a verdict one of {', '.join(_VERDICTS)}")
            found[str(row["id"])] = ReaderVerdicts(weight, {id: said == "same" for id, said in verdicts.items()})
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            wanted = '{"id": …, "weight": 1.0, "verdicts": {"CANDIDATE": "same"}}'
            raise UserError(f"{path}:{number}: this is no reading such as {wanted}: {problem}") from None
    if not found:
        raise UserError(f"{path}: there is no reading in it")
    return found


def fit_readings(odds: Sequence[Floats], reads: Sequence[ReadCandidates]) -> tuple[Fitted, Fitted]:
    """Fit the last step with the text model and without it, to the log-odds of each arrival's candidates.

    The step without the text model leaves out small repositories, where word counts tell too little.
    """

    def fit(names: Sequence[str], rows: Sequence[Floats], said: Sequence[ReadCandidates]) -> Fitted:
        same = np.concatenate([one.same for one in said])
        weight = np.concatenate([np.full(len(one.same), one.weight) for one in said])
        return fit_probability(names, np.concatenate(rows), same, weight / weight.mean(), L2_READINGS, {})

    with_text = [probability.rows_with_text(own, one.likeness) for own, one in zip(odds, reads, strict=True)]
    by_odds = [probability.rows_by_odds(own) for own, one in zip(odds, reads, strict=True) if not one.small]
    return (
        fit(probability.WITH_TEXT, with_text, reads),
        fit(probability.BY_ODDS, by_odds, [one for one in reads if not one.small]),
    )


_REPO = 1


@dataclass(frozen=True, slots=True)
class Arrival:
    """One issue with its candidates: their features, (candidates, features), and whether each is the `same`.

    `back` is how many issues each candidate lies back, from 0; `earlier` the number of issues before this one;
    `stands_for` how many issues it is a sample of (0 if it was chosen only because it was read). `young` marks one of a
    repository's first issues. `read` has the readers' verdicts.
    """

    earlier: int
    values: Floats
    back: Integers
    same: Floats
    stands_for: float
    young: bool = False
    read: ReadCandidates | None = None


class TrainingRepository:
    """A repository in which issues arrive and are compared with those before them.

    Issues enter the index together, at the next comparison.
    """

    def __init__(self, index: Index) -> None:
        self._github = ReplayGitHub(searchable=False)
        self._mirror, self._matcher = IndexMirror(index, _REPO), Matcher(index, most=None)
        self._waiting: list[Issue] = []

    def arrive(self, past: PastIssue) -> Issue:
        """Open the next issue, numbered from 1 on."""
        return self._github.arrive(past)

    def compared(self, issue: Issue) -> tuple[Integers, Floats]:
        """The candidates of the issue that arrived last: their numbers, and (candidates, features)."""
        self._mirror.put(self._waiting)
        self._mirror.follow(self._github)
        self._waiting = []
        with self._matcher.session(_REPO, issue, below=issue.number) as look:
            return look.compared()

    def likeness(self, issue: Issue, numbers: Integers, places: Integers) -> TextSimilarity:
        """The text model's comparison of the last issue with the candidates at these places."""
        others = np.setdiff1d(np.arange(len(numbers)), places)
        order = np.concatenate([places, others])
        with self._matcher.session(_REPO, issue, below=issue.number) as look:
            found = look.likeness(numbers, issue.number - 1, order, len(places))
        if found is None:
            raise UserError("readings are compared by the text model, which failed; the log says why")
        # Candidates that the reader adds come after those it was asked about.
        return found.of(slice(len(places)))

    def keep(self, issue: Issue) -> None:
        """Keep the issue that arrived last as a candidate for later ones."""
        self._waiting.append(issue)


@contextmanager
def training_repository(text_model: Path | None) -> Iterator[TrainingRepository]:
    """An empty repository that compares by the text model in a folder (None: the shipped model)."""
    with ephemeral_index(TextAnalyser(), choose_embedder(), text_model=_remembering(text_model)) as index:
        yield TrainingRepository(index)


class _Remembering:
    """A text model with a cache: many repositories are made of the texts of one file."""

    remote = False

    def __init__(self, model: TextModel) -> None:
        self._model, self._made = model, dict[str, NDArray[np.float32]]()

    @property
    def name(self) -> str:
        return self._model.name

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        new = [text for text in dict.fromkeys(texts) if text not in self._made]
        if new:
            self._made |= zip(new, self._model.embed(new), strict=True)
        return np.array([self._made[text] for text in texts])


@cache
def _remembering(folder: Path | None) -> _Remembering:
    return _Remembering(TextModel(folder))


#: Called with the numbers of issues that were added to the work, and that were done, since the last call.
Progress = Callable[[int, int], None]

#: Why files teach nothing.
TOO_FEW = "too few issues there are known as duplicates (duplicate_of) of one that came before them"


@dataclass(frozen=True, slots=True)
class TrainingFile:
    """A file of issues to learn from, with readers' verdicts on them if there are any.

    `text_model` is the folder of a text model that was not tuned on these issues (None: the shipped model).
    """

    issues: Path
    readings: Path | None = None
    text_model: Path | None = None


def collect(material: TrainingFile, progress: Progress, *, others: int, seed: int) -> list[Arrival]:
    """The arrivals of one file: duplicates, the first issues, a seeded sample of the others, and what was read."""
    issues, labels = read_archive(material.issues), read_labels(material.issues)
    said = read_verdicts(material.readings) if material.readings else {}
    chosen = beginning(issues, labels) | to_learn_from(issues, labels, others, seed)
    read = {position: said[str(past.id)] for position, past in enumerate(issues) if str(past.id) in said}
    if said and not read:
        raise UserError(f"{material.readings}: none of the issues that were read is in {material.issues}")
    progress(len(chosen.keys() | read.keys()), 0)
    with training_repository(material.text_model) as repository:
        arrivals = list(_compared(repository, issues, labels, chosen, read, progress))
    if not read:
        return arrivals
    return [*arrivals, *small_repositories(material.text_model, issues, labels, progress, seed)]


def _compared(
    repository: TrainingRepository,
    issues: Sequence[PastIssue],
    labels: Labels,
    chosen: Mapping[int, float],
    read: Mapping[int, ReaderVerdicts],
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
    repository: TrainingRepository, issue: Issue, numbers: Integers, ids: Sequence[int | str], said: ReaderVerdicts
) -> ReadCandidates | None:
    """The verdicts on the candidates; None if none was read."""
    places = np.array([place for place, id in enumerate(ids) if str(id) in said.same], dtype=np.int64)
    if not len(places):
        return None
    same = np.array([float(said.same[str(ids[place])]) for place in places.tolist()])
    likeness = repository.likeness(issue, numbers, places)
    return ReadCandidates(same, likeness, said.weight, signed=bool(known_author(issue.author)))


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
    text_model: Path | None, issues: Sequence[PastIssue], labels: Labels, progress: Progress, seed: int
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
            with training_repository(text_model) as repository:
                yield from _arriving(repository, issues, labels, there, [*sorted(again), *new])
            progress(0, REPEATING + OTHERS)


def _arriving(
    repository: TrainingRepository,
    issues: Sequence[PastIssue],
    labels: Labels,
    there: Sequence[int],
    arriving: Sequence[int],
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
        read = ReadCandidates(same, likeness, weight, signed=bool(known_author(issue.author)), small=True)
        yield Arrival(len(there), values, len(there) - numbers, same, 0.0, read=read)


#: The first issues of a repository are all looked at: from this position on, up to this one.
BEGINNING = (30, 4_000)


def beginning(issues: Sequence[PastIssue], labels: Labels) -> dict[int, float]:
    """The positions of the first issues that can be judged. Each stands for itself, hence 1."""
    least, most = BEGINNING
    last = min(most, grown_from(issues))
    return {position: 1.0 for position, _ in truth(issues[:last], labels, 0.0) if position >= least}


def grown_from(issues: Sequence[PastIssue]) -> int:
    """The position at which a repository's beginning ends."""
    return int(len(issues) * WARM)
