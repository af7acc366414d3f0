"""What a file of past issues says of duplicates. Training and evaluation read it; a replay never does."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from bot.domain.counting import counted
from bot.domain.errors import UserError
from bot.quality.evaluation.figures import Evaluation, evaluate
from bot.quality.evaluation.measures import DEPTHS, Id, JudgedArrival
from bot.quality.feedback import UNDECIDED, Decided
from bot.quality.replay.archive import PastIssue, archive_of, read_rows
from bot.quality.replay.drivers import replay_index, replay_search
from bot.quality.replay.replay import ReplayAnswer, ReplayOptions
from bot.search.ranking.grouping import components

WARM = 0.2
"""The share of issues that only arrive before the first is judged."""


@dataclass(frozen=True, slots=True)
class Labels:
    """`group` joins issues that report the same thing; `marked` ones are called duplicates, of whatever.

    `doubtful` ones may be duplicates of something that is not known, `named` ones name their original in their text,
    and `astray` is the `duplicate_of` of those where it is no other issue's id here.
    """

    group: Mapping[Id, Id]
    marked: frozenset[Id]
    doubtful: frozenset[Id]
    named: frozenset[Id]
    astray: Mapping[Id, Id]


def read_labels(path: Path) -> Labels:
    """The labels of a file that `bot.quality.replay.read_archive` could read. Raises UserError as `labels_of` does."""
    try:
        return labels_of([row for row, _ in read_rows(path)])
    except UserError as problem:
        raise UserError(f"{path}: {problem}") from None


def labels_of(rows: Sequence[Mapping[str, Any]], decided: Decided = UNDECIDED) -> Labels:
    """The labels in rows: `duplicate_of`, and where they apply `maybe_related`, `dup_unknown_master`,
    `body_mentions_master`. A group is what the links of `duplicate_of` join, whichever way they point. Raises UserError
    naming the issue whose `duplicate_of` cannot be an id.

    What people `decided` about pairs counts as well: the later of two that are the same is a duplicate, and a mark that
    they contradict leaves its issue in doubt. The rows are in the order of arrival then.
    """
    for row in rows:
        of = row.get("duplicate_of")
        if isinstance(of, bool) or not isinstance(of, int | str | None):
            raise UserError(f"duplicate_of of the issue {row['id']!r} is neither a number nor a string")
    ids: dict[Id, None] = dict.fromkeys(row["id"] for row in rows)
    links = {row["id"]: row["duplicate_of"] for row in rows if row.get("duplicate_of") in ids}
    contradicted = {id for id, of in links.items() if {(id, of), (of, id)} & decided.different}
    place = {id: at for at, id in enumerate(ids)}
    agreed = [pair for pair in decided.same if place.keys() >= set(pair)]
    marked = {row["id"] for row in rows if row.get("duplicate_of") is not None} - contradicted
    doubtful = {row["id"] for row in rows if row.get("maybe_related") or row.get("dup_unknown_master")}
    return Labels(
        components(ids, [*((id, of) for id, of in links.items() if id not in contradicted), *agreed]),
        frozenset(marked | {max(pair, key=place.__getitem__) for pair in agreed}),
        frozenset(doubtful | contradicted),
        frozenset(row["id"] for row in rows if row.get("body_mentions_master")),
        {
            row["id"]: of
            for row in rows
            if (of := row.get("duplicate_of")) is not None and (of not in ids or of == row["id"])
        },
    )


def truth(issues: Sequence[PastIssue], labels: Labels, warm: float) -> Iterator[tuple[int, frozenset[Id] | None]]:
    """What should have been found at each arrival that can be judged: its position and its originals.

    The originals of a duplicate are the members of its group that came before it; None stands for an issue that is
    nobody's duplicate, about which the bot should stay silent. Nothing is said of arrivals in the first `warm` share,
    of doubtful ones, of duplicates without a known original and of those that name it themselves.
    """
    size = Counter(labels.group[issue.id] for issue in issues)
    earlier: dict[Id, list[Id]] = {}
    for position, issue in enumerate(issues):
        members = earlier.setdefault(labels.group[issue.id], [])
        originals = frozenset(members)
        members.append(issue.id)
        if position < int(len(issues) * warm):
            continue
        # Marked, and alone in its group: its original is not in the file.
        lost = issue.id in labels.marked and size[labels.group[issue.id]] == 1
        if originals and issue.id in labels.marked and issue.id not in labels.named:
            yield position, originals
        if not originals and not lost and issue.id not in labels.doubtful:
            yield position, None


def to_learn_from(issues: Sequence[PastIssue], labels: Labels, others: int, seed: int) -> dict[int, float]:
    """Positions of the issues to learn from → how many each stands for: every duplicate, and a sample of the others."""
    known = dict(truth(issues, labels, WARM))
    repeated = [n for n, originals in known.items() if originals]
    fresh = [n for n, originals in known.items() if originals is None]
    sample = random.Random(seed).sample(fresh, min(others, len(fresh)))  # noqa: S311 - a sample, no secret
    return dict.fromkeys(repeated, 1.0) | dict.fromkeys(sample, len(fresh) / max(len(sample), 1))


Truth = Mapping[int, frozenset[Id] | None]
Found = tuple[tuple[Id, float], ...]


def choose(known: Truth, size: int | None, seed: int) -> dict[int, float]:
    """Positions to ask about → how many arrivals each stands for: all, or a seeded sample of `size`.

    Duplicates are rare, and most figures are about them: a third of a sample are duplicates, where there are so many.
    Which arrivals are chosen does not reach the replay in any other way.
    """
    repeated = [position for position, originals in known.items() if originals is not None]
    fresh = [position for position, originals in known.items() if originals is None]
    if size is None or size >= len(known):
        return dict.fromkeys(known, 1.0)
    rng = random.Random(seed)  # noqa: S311 - a sample to measure by, no secret
    of_repeated = max(min(len(repeated), size // 3), size - len(fresh))
    chosen: dict[int, float] = {}
    for kind, count in ((repeated, of_repeated), (fresh, size - of_repeated)):
        chosen |= dict.fromkeys(rng.sample(kind, count), len(kind) / max(count, 1))
    return dict(sorted(chosen.items()))


def read_answers(rows: Iterable[tuple[Any, str]], issues: Sequence[PastIssue]) -> dict[Id, Found]:
    """A replay's answers from rows with their places. Raises UserError naming the place of one that proves nothing.

    Such is an issue or candidate that the file of issues does not have, a candidate that had not arrived yet, a
    confidence that is no probability, and candidates that are not best first.
    """
    position = {issue.id: place for place, issue in enumerate(issues)}
    found: dict[Id, Found] = {}
    for row, place in rows:
        id, candidates = _answer(row, place)
        if id not in position:
            raise UserError(f"{place}: the issues hold no {id!r}; is this a replay of another file?")
        if id in found:
            raise UserError(f"{place}: a second answer for {id!r}")
        _check(candidates, position, position[id], place)
        found[id] = candidates
    return found


def _answer(row: Any, place: str) -> tuple[Id, Found]:
    try:
        return _id(row["id"]), tuple((_id(one["id"]), float(one["confidence"])) for one in row["candidates"])
    except (KeyError, TypeError, ValueError, OverflowError):
        shape = '{"id": …, "candidates": [{"id": …, "confidence": 0 to 1}, …]}'
        raise UserError(f"{place}: an answer has the form {shape}, as `doppel replay` writes it") from None


def _id(value: Any) -> Id:
    """An id as issues have it. Raises TypeError for anything else, also for what Python takes for a number."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise TypeError("an id is a number or a string")
    return value


def _check(candidates: Found, position: Mapping[Id, int], arrival: int, place: str) -> None:
    sure = [confidence for _, confidence in candidates]
    if not all(0 <= confidence <= 1 for confidence in sure):
        raise UserError(f"{place}: a confidence lies between 0 and 1")
    if sure != sorted(sure, reverse=True):
        raise UserError(f"{place}: the candidates are not in the order of their confidence, best first")
    for id, _ in candidates:
        if id not in position:
            raise UserError(f"{place}: the issues hold no candidate {id!r}")
        if position[id] >= arrival:
            raise UserError(f"{place}: candidate {id!r} had not arrived yet, so that this replay proves nothing")


@dataclass(frozen=True, slots=True)
class Trial:
    """`known` is what should be found at each position that can be judged, `chosen` the positions that are asked about
    with the arrivals that each stands for; `marks` are what people said of duplicates, which may be nothing, and
    `decided` what they decided about pairs where the bot asked them.
    """

    issues: Sequence[PastIssue]
    known: Truth
    chosen: Mapping[int, float]
    marks: Labels
    decided: Decided = UNDECIDED

    @classmethod
    def of(
        cls,
        rows: Sequence[tuple[Any, str]],
        *,
        warm: float,
        sample: int | None,
        seed: int,
        decided: Decided = UNDECIDED,
    ) -> Trial:
        """The trial of `rows`, each with its place for error messages. Raises UserError where nothing can be judged."""
        issues = archive_of(rows)
        if not issues:
            raise UserError("there is no issue in it")
        marks = labels_of([row for row, _ in rows], decided)
        known = dict(truth(issues, marks, warm))
        if not known:
            # A warm-up of nothing leaves all to judge that can be.
            helps = any(truth(issues, marks, 0))
            why = "a lower --from leaves more to judge" if helps else "docs/evaluate.md says what is left out"
            raise UserError(f"none of {counted(len(issues), 'issue')} can be judged; {why}")
        return cls(issues, known, choose(known, sample, seed), marks, decided)

    def only(self, answered: Mapping[Id, Found]) -> Trial:
        """The same, asking about those arrivals alone that were answered."""
        chosen = {position: weight for position, weight in self.chosen.items() if self.issues[position].id in answered}
        return replace(self, chosen=chosen)

    def ask(self, asking: ReplayOptions, jobs: int | None, advance: Callable[[], None]) -> dict[Id, Found]:
        """Let the issues arrive, and ask the finder; `advance` hears of each arrival."""
        return {one.id: one.candidates for one in self.replayed(asking, jobs, advance, self.chosen)}

    def replayed(
        self, asking: ReplayOptions, jobs: int | None, advance: Callable[[], None], positions: Collection[int]
    ) -> list[ReplayAnswer]:
        """The same of any arrivals, with all that the replay tells of them."""
        replay = partial(replay_index, jobs=jobs) if asking.indexed else replay_search
        answers = replay(self.issues, positions, asking, advance=advance)
        return [one for one in answers if one is not None]

    def judged(self, found: Mapping[Id, Found]) -> list[JudgedArrival]:
        """The arrivals with what was found; where `found` does not say, that was nothing."""
        different: dict[Id, set[Id]] = {}
        for one, other in self.decided.different:
            different.setdefault(one, set()).add(other)
            different.setdefault(other, set()).add(one)
        return [
            JudgedArrival(
                id=(issue := self.issues[position]).id,
                arrived=issue.created_at,
                originals=self.known[position],
                found=found.get(issue.id, ()),
                weight=weight,
                different=frozenset(different.get(issue.id, ())),
            )
            for position, weight in self.chosen.items()
        ]

    def judge(self, found: Mapping[Id, Found], min_confidence: float) -> Evaluation:
        """What the answers are worth."""
        return evaluate(
            self.judged(found),
            issues=len(self.issues),
            arrived=[self.issues[position].created_at for position in self.known],
            min_confidence=min_confidence,
        )


def as_the_bot_asks() -> ReplayOptions:
    """The bot's own sources and weights, and as many candidates as are judged."""
    return ReplayOptions(top=max(DEPTHS))
