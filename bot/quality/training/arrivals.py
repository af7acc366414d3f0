"""Collects arrivals to learn from: past issues with their candidates, duplicate marks and readers' verdicts.

A file of readers' verdicts (P1) has a line for each arrival that people read: `{"id", "weight", "verdicts":
{CANDIDATE: VERDICT}}`. A verdict is `same`, `related` or `different`; `weight` is the number of arrivals that this
arrival represents.

Readers judged candidates only in large trackers, which teach little about small repositories. So this module also makes
small repositories from issues drawn from a file, with marks instead of readers' verdicts.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bot.domain.entities import Issue
from bot.domain.errors import UserError
from bot.quality.evaluation.trial import WARM, Labels, read_labels, to_learn_from, truth
from bot.quality.replay.archive import PastIssue, read_archive
from bot.quality.replay.replay import REPO_ID, IndexMirror, ReplayGitHub
from bot.quality.training.fitting import Fitted, fit_probability
from bot.search.embedding.local_models import TextModel, choose_embedder
from bot.search.index import Index, TextAnalyser
from bot.search.index.arrays import Floats, Integers
from bot.search.index.index import ephemeral_index
from bot.search.matching import Matcher, features, probability
from bot.search.matching.probability import LEADERS, TextSimilarity
from bot.search.matching.retrieval import known_author

#: The L2 penalty for the third and last step in `probability.py`. The step fits few weights to thousands of pairs.
L2_READINGS = 1.0

_VERDICTS = ("same", "related", "different")


@dataclass(frozen=True, slots=True)
class ReaderVerdicts:
    """Readers' verdicts on one arrival: whether each candidate, by its id in the file, is the same."""

    weight: float
    same: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class ReadCandidates:
    """An arrival's candidates for the last step: whether each is the `same`, and the text model's `likeness`.

    In a large tracker, `same` comes from readers, and `weight` is the number of arrivals that this arrival represents.
    In a `small` repository, made for training, `same` comes from duplicate marks, and `weight` is the share of the
    repository's arrivals that this arrival represents. `signed` says whether the arrival's author is known.
    """

    same: Floats
    likeness: TextSimilarity
    weight: float
    signed: bool
    small: bool = False


def read_verdicts(path: Path) -> dict[str, ReaderVerdicts]:
    """Readers' verdicts by the arrival's id. Raises UserError naming an invalid line."""
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
            verdicts, weight = {str(id): verdict for id, verdict in row["verdicts"].items()}, float(row["weight"])
            if weight <= 0 or not set(verdicts.values()) <= set(_VERDICTS):
                raise ValueError(f"a weight is above 0, and a verdict one of {', '.join(_VERDICTS)}")
            found[str(row["id"])] = ReaderVerdicts(weight, {id: verdict == "same" for id, verdict in verdicts.items()})
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            wanted = '{"id": …, "weight": 1.0, "verdicts": {"CANDIDATE": "same"}}'
            raise UserError(f"{path}:{number}: this is no reading such as {wanted}: {problem}") from None
    if not found:
        raise UserError(f"{path}: there is no reading in it")
    return found


def fit_readings(odds: Sequence[Floats], readings: Sequence[ReadCandidates]) -> tuple[Fitted, Fitted]:
    """Fit the last step, with the text model and without it. `odds` has the candidates' log-odds before that step.

    The fit without the text model leaves out small repositories: there, the log-odds alone say too little.
    """

    def fit(names: Sequence[str], rows: Sequence[Floats], chosen: Sequence[ReadCandidates]) -> Fitted:
        same = np.concatenate([reading.same for reading in chosen])
        weight = np.concatenate([np.full(len(reading.same), reading.weight) for reading in chosen])
        return fit_probability(names, np.concatenate(rows), same, weight / weight.mean(), L2_READINGS, {})

    with_text = [probability.rows_with_text(one, reading.likeness) for one, reading in zip(odds, readings, strict=True)]
    by_odds = [probability.rows_by_odds(one) for one, reading in zip(odds, readings, strict=True) if not reading.small]
    return (
        fit(probability.WITH_TEXT, with_text, readings),
        fit(probability.BY_ODDS, by_odds, [reading for reading in readings if not reading.small]),
    )


@dataclass(frozen=True, slots=True)
class Arrival:
    """One issue with its candidates: a row of feature `values` for each candidate, and whether each is the `same`.

    `earlier` is the number of issues before this issue. `back` has for each candidate the number of issues between the
    candidate and this issue. `stands_for` is the number of issues that this sampled issue represents. `young` marks one
    of a repository's first issues.
    """

    earlier: int
    values: Floats
    back: Integers
    same: Floats
    stands_for: float = 1.0
    young: bool = False


ReadArrival = tuple[Arrival, ReadCandidates]
"""An arrival, and its candidates for the last step."""


class TrainingRepository:
    """A repository in which issues arrive and are compared with earlier issues.

    Issues given to `add` wait for the next comparison, and then enter the index together.
    """

    def __init__(self, index: Index) -> None:
        self._github = ReplayGitHub(searchable=False)
        self._mirror, self._matcher = IndexMirror(index), Matcher(index, most=None)
        self._waiting: list[Issue] = []

    def arrive(self, past: PastIssue) -> Issue:
        """Open the next issue. Numbers begin at 1."""
        return self._github.arrive(past)

    def compared(self, issue: Issue) -> tuple[Integers, Floats]:
        """The candidates' numbers, and a row of features for each candidate. `issue` must be the last to arrive."""
        self._mirror.put(self._waiting)
        self._mirror.put(self._github.take_closed())
        self._waiting = []
        with self._matcher.session(REPO_ID, issue, below=issue.number) as session:
            return session.compared()

    def likeness(
        self, issue: Issue, numbers: Integers, best: Integers, positions: Integers, total: int
    ) -> TextSimilarity | None:
        """The text model's comparison of `issue`, the last to arrive, with the candidates `numbers[positions]`.

        `best` has all positions in `numbers`, the best candidate's first. `total` is the number of issues in the index.
        None if the model compares none of these candidates.
        """
        # Put the leaders first: the session takes the usual cosine, a median, from the first LEADERS rows.
        leaders = best[:LEADERS]
        wanted = np.concatenate([leaders, np.setdiff1d(positions, leaders)])
        order = np.concatenate([wanted, np.setdiff1d(best, wanted)])
        with self._matcher.session(REPO_ID, issue, below=issue.number) as session:
            found = session.likeness(numbers, total, order, len(wanted))
        if found is None or not np.isin(found.rows, positions).any():
            return None
        # Keep only `positions`. The session also compares the leaders, and in a small repository the closest issues.
        return found.of(np.isin(found.rows, positions))

    def add(self, issue: Issue) -> None:
        """Make `issue`, the last to arrive, a candidate of later issues."""
        self._waiting.append(issue)


def best_first(values: Floats, ranking: Fitted) -> Integers:
    """The positions of candidates with these features, best first. Candidates with equal scores keep their order."""
    return np.argsort(-ranking.scores(features.with_pool_ranks(values)), kind="stable")


@contextmanager
def training_repository(text_model: Path | None = None) -> Iterator[TrainingRepository]:
    """An empty repository. `text_model` is the folder of the text model (None: the shipped model)."""
    with ephemeral_index(TextAnalyser(), choose_embedder(), text_model=TextModel(text_model)) as index:
        yield TrainingRepository(index)


#: Called with the number of issues added to the work, and the number completed, both since the last call.
Progress = Callable[[int, int], None]

#: The error for files without enough known duplicates.
TOO_FEW = "too few of these issues are known as duplicates (duplicate_of) of an earlier one"


@dataclass(frozen=True, slots=True)
class TrainingFile:
    """A file of issues to learn from, with a file of readers' verdicts, if any.

    `text_model` is the folder of a text model that was not tuned on these issues (None: the shipped model).
    """

    issues: Path
    readings: Path | None = None
    text_model: Path | None = None


def collect(material: TrainingFile, progress: Progress, *, others: int, seed: int) -> list[Arrival]:
    """The arrivals of one file: duplicates, the first issues, and `others` unmarked issues, sampled by `seed`."""
    issues, labels = read_archive(material.issues), read_labels(material.issues)
    if material.readings:
        # Refuse readings of another file now, not after an hour.
        _verdicts_by_position(material.readings, material.issues, issues)
    chosen = beginning(issues, labels) | to_learn_from(issues, labels, others, seed)
    grown = grown_from(issues)
    progress(len(chosen), 0)
    with training_repository() as repository:
        return [
            Arrival(
                position,
                values,
                back=position - numbers,
                same=_same(past, [issues[number - 1] for number in numbers.tolist()], labels),
                stands_for=chosen[position],
                young=position < grown,
            )
            for position, past, _, numbers, values in _compared(repository, issues, chosen, progress)
        ]


def collect_read(material: TrainingFile, ranking: Fitted, progress: Progress, seed: int) -> list[ReadArrival]:
    """A file's arrivals with readers' verdicts, and arrivals in small repositories. Empty if no verdicts are given.

    The model `ranking` sorts the candidates. It should be learned from other files.
    """
    if material.readings is None:
        return []
    issues, labels = read_archive(material.issues), read_labels(material.issues)
    verdicts = _verdicts_by_position(material.readings, material.issues, issues)
    found = []
    progress(len(verdicts), 0)
    with training_repository(material.text_model) as repository:
        for position, past, issue, numbers, values in _compared(repository, issues, verdicts, progress):
            candidates = [issues[number - 1] for number in numbers.tolist()]
            read = _read(repository, issue, numbers, best_first(values, ranking), candidates, verdicts[position])
            if read is not None:
                same = _same(past, candidates, labels)
                found.append((Arrival(position, values, position - numbers, same), read))
    if not found:
        raise UserError(f"{material.readings}: the text model compared none of the issues; the log says why")
    return [*found, *small_repositories(material.text_model, ranking, issues, labels, progress, seed)]


def _verdicts_by_position(readings: Path, archive: Path, issues: Sequence[PastIssue]) -> dict[int, ReaderVerdicts]:
    verdicts = read_verdicts(readings)
    found = {at: verdicts[str(past.id)] for at, past in enumerate(issues) if str(past.id) in verdicts}
    if not found:
        raise UserError(f"{readings}: none of the issues that were read is in {archive}")
    return found


def _compared(
    repository: TrainingRepository, issues: Sequence[PastIssue], chosen: Collection[int], progress: Progress
) -> Iterator[tuple[int, PastIssue, Issue, Integers, Floats]]:
    """Each chosen issue that has candidates, with its position, its candidates' numbers and their features."""
    for position, past in enumerate(issues):
        issue = repository.arrive(past)
        if position in chosen:
            numbers, values = repository.compared(issue)
            if len(numbers):
                yield position, past, issue, numbers, values
            progress(0, 1)
        repository.add(issue)


def _same(past: PastIssue, candidates: Sequence[PastIssue], labels: Labels) -> Floats:
    """Whether each candidate is marked as the same: 1 or 0."""
    return np.array([float(labels.group[one.id] == labels.group[past.id]) for one in candidates])


def _read(
    repository: TrainingRepository,
    issue: Issue,
    numbers: Integers,
    best: Integers,
    candidates: Sequence[PastIssue],
    verdicts: ReaderVerdicts,
) -> ReadCandidates | None:
    """The verdicts on the candidates that the text model can compare with the issue; None without such verdicts."""
    positions = [at for at, candidate in enumerate(candidates) if str(candidate.id) in verdicts.same]
    total = issue.number - 1
    likeness = (
        repository.likeness(issue, numbers, best, np.array(positions, dtype=np.int64), total) if positions else None
    )
    if likeness is None:
        return None
    same = np.array([float(verdicts.same[str(candidates[at].id)]) for at in likeness.rows.tolist()])
    return ReadCandidates(same, likeness, verdicts.weight, signed=bool(known_author(issue.author)))


#: The sizes of the small repositories, and the number of repositories of each size.
SIZES = ((60, 40), (200, 30), (1_000, 6))
#: The numbers of duplicates and of other issues that arrive in each small repository.
REPEATING, OTHERS = 10, 30
#: The share of arrivals that repeat one of their first three candidates, by readers' verdicts.
SHARE = 0.09
#: A file needs this many pairs of duplicates to make small repositories.
LEAST_PAIRS = 100

# All small repositories draw issues from one sample of this size. Their pairs of duplicates come from the whole file.
_DRAWN = 3_000


def small_repositories(
    text_model: Path | None,
    ranking: Fitted,
    issues: Sequence[PastIssue],
    labels: Labels,
    progress: Progress,
    seed: int,
) -> Iterator[ReadArrival]:
    """The arrivals in small repositories made of a file's issues; empty if the file has too few duplicates."""
    rng = random.Random(seed)  # noqa: S311
    groups: dict[object, list[int]] = defaultdict(list)
    for position, past in enumerate(issues):
        groups[labels.group[past.id]].append(position)
    pairs = [(group[0], group[1]) for group in groups.values() if len(group) > 1]
    if len(pairs) < LEAST_PAIRS:
        return
    progress(sum(repositories * (REPEATING + OTHERS) for _, repositories in SIZES), 0)
    drawn = rng.sample(range(len(issues)), min(_DRAWN, len(issues)))
    for size, repositories in SIZES:
        for _ in range(repositories):
            # `present` has the first issue of each chosen pair and drawn issues. The second issues (`again`) arrive.
            # Then up to OTHERS `new` issues arrive. Twice OTHERS are drawn, because repeats of present issues drop out.
            chosen = rng.sample(pairs, REPEATING)
            first, again = {one for one, _ in chosen}, {other for _, other in chosen}
            present = sorted({*first, *rng.sample(drawn, min(size, len(drawn)))} - again)
            known = {labels.group[issues[at].id] for at in present}
            others = [at for at in rng.sample(drawn, min(2 * OTHERS, len(drawn))) if at not in present]
            new = [at for at in others if labels.group[issues[at].id] not in known][:OTHERS]
            with training_repository(text_model) as repository:
                yield from _arrivals_after(repository, ranking, issues, labels, present, [*sorted(again), *new])
            progress(0, REPEATING + OTHERS)


def _arrivals_after(
    repository: TrainingRepository,
    ranking: Fitted,
    issues: Sequence[PastIssue],
    labels: Labels,
    present: Sequence[int],
    arriving: Sequence[int],
) -> Iterator[ReadArrival]:
    """Each of the `arriving` issues, compared as if it were the next issue in a repository of the `present` issues."""
    for position in present:
        repository.add(repository.arrive(issues[position]))
    present_groups = [labels.group[issues[position].id] for position in present]
    last = issues[present[-1]].created_at
    for past in (issues[position] for position in arriving):
        # Leave the issue open: `compared` indexes newly closed issues, but must not index arriving issues.
        issue = repository.arrive(replace(past, created_at=max(past.created_at, last), closed_at=None))
        numbers, values = repository.compared(issue)
        if not len(numbers):
            continue
        best, all_positions = best_first(values, ranking), np.arange(len(numbers))
        likeness = repository.likeness(issue, numbers, best, all_positions, len(present))
        if likeness is None:
            continue
        group = labels.group[past.id]
        same = np.array([float(present_groups[number - 1] == group) for number in numbers.tolist()])
        weight = SHARE / REPEATING if same.any() else (1 - SHARE) / OTHERS
        read = ReadCandidates(
            same[likeness.rows], likeness, weight, signed=bool(known_author(issue.author)), small=True
        )
        yield Arrival(len(present), values, len(present) - numbers, same), read


#: Of a repository's beginning (see `grown_from`), training uses only the positions in this range.
BEGINNING = (30, 4_000)


def beginning(issues: Sequence[PastIssue], labels: Labels) -> dict[int, float]:
    """Positions in a repository's beginning that `truth` yields, with weight 1: each issue represents only itself."""
    least, most = BEGINNING
    last = min(most, grown_from(issues))
    return {position: 1.0 for position, _ in truth(issues[:last], labels, 0.0) if position >= least}


def grown_from(issues: Sequence[PastIssue]) -> int:
    """The position at which a repository's beginning ends."""
    return int(len(issues) * WARM)
