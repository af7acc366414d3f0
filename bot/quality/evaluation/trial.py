"""Evaluates the finder on past issues: reads the labels, chooses the arrivals to ask about, and judges the answers."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.domain.errors import UserError
from bot.domain.formats import counted
from bot.quality.evaluation.figures import Evaluation, evaluate
from bot.quality.evaluation.measures import DEPTHS, Id, JudgedArrival
from bot.quality.feedback import UNDECIDED, Decided
from bot.quality.replay.archive import PastIssue, archive_of, read_rows
from bot.quality.replay.replay import ReplayOptions
from bot.search.ranking.grouping import components

WARM = 0.2
"""The share of issues that arrive before the first judged issue."""


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of a file's issues.

    Issues that report the same thing form a group; `group` maps each issue to its group's representative. `marked`
    issues are known duplicates; `doubtful` issues may be duplicates; `named` issues name their original in their text.
    `astray` maps an issue to its `duplicate_of` if this is the issue's own id, or the id of no issue in the file.
    """

    group: Mapping[Id, Id]
    marked: frozenset[Id]
    doubtful: frozenset[Id]
    named: frozenset[Id]
    astray: Mapping[Id, Id]


def read_labels(path: Path) -> Labels:
    """The labels of a file that `read_archive` could read. Raises UserError as `labels_of` does."""
    try:
        return labels_of([row for row, _ in read_rows(path)])
    except UserError as problem:
        raise UserError(f"{path}: {problem}") from None


def labels_of(rows: Sequence[Mapping[str, Any]], decided: Decided = UNDECIDED) -> Labels:
    """The labels in rows: `duplicate_of`, `maybe_related`, `dup_unknown_master`, `body_mentions_master`.

    Issues linked by `duplicate_of`, in either direction, form a group. People's decisions about pairs (`decided`) count
    as well. An issue whose `duplicate_of` contradicts a decision is doubtful. The later issue of a `same` pair is a
    duplicate, so with decisions, rows must be in order of arrival. Raises UserError naming an issue whose
    `duplicate_of` cannot be an id.
    """
    for row in rows:
        original = row.get("duplicate_of")
        if isinstance(original, bool) or not isinstance(original, int | str | None):
            raise UserError(f"duplicate_of of the issue {row['id']!r} is neither a number nor a string")
    ids: dict[Id, None] = dict.fromkeys(row["id"] for row in rows)
    links = {row["id"]: row["duplicate_of"] for row in rows if row.get("duplicate_of") in ids}
    contradicted = {a for a, b in links.items() if {(a, b), (b, a)} & decided.different}
    position_of = {id: at for at, id in enumerate(ids)}
    agreed = [pair for pair in decided.same if position_of.keys() >= set(pair)]
    marked = {row["id"] for row in rows if row.get("duplicate_of") is not None} - contradicted
    doubtful = {row["id"] for row in rows if row.get("maybe_related") or row.get("dup_unknown_master")}
    return Labels(
        group=components(ids, [*(link for link in links.items() if link[0] not in contradicted), *agreed]),
        marked=frozenset(marked | {max(pair, key=position_of.__getitem__) for pair in agreed}),
        doubtful=frozenset(doubtful | contradicted),
        named=frozenset(row["id"] for row in rows if row.get("body_mentions_master")),
        astray={
            id: original
            for id, original in ((row["id"], row.get("duplicate_of")) for row in rows)
            if original is not None and (original not in ids or original == id)
        },
    )


def truth(issues: Sequence[PastIssue], labels: Labels, warm: float) -> Iterator[tuple[int, frozenset[Id] | None]]:
    """The positions of the arrivals that can be judged, each with its originals: the earlier members of its group.

    None instead of originals means that no earlier issue is known to be the same, so the bot should stay silent. Leaves
    out the first `warm` share. Of the arrivals with originals, leaves out unmarked issues, and issues that name their
    original. Of those without originals, leaves out doubtful issues, and duplicates whose original the file lacks.
    """
    size = Counter(labels.group[issue.id] for issue in issues)
    earlier: dict[Id, list[Id]] = {}
    for position, issue in enumerate(issues):
        members = earlier.setdefault(labels.group[issue.id], [])
        originals = frozenset(members)
        members.append(issue.id)
        if position < int(len(issues) * warm):
            continue
        # The file lacks the original of a marked issue whose group has no other member.
        original_missing = issue.id in labels.marked and size[labels.group[issue.id]] == 1
        if originals and issue.id in labels.marked and issue.id not in labels.named:
            yield position, originals
        if not originals and not original_missing and issue.id not in labels.doubtful:
            yield position, None


def to_learn_from(issues: Sequence[PastIssue], labels: Labels, others: int, seed: int) -> dict[int, float]:
    """Maps the positions of all duplicates, and of a sample of at most `others` unmarked issues, to their weights."""
    known = dict(truth(issues, labels, WARM))
    duplicates = [position for position, originals in known.items() if originals]
    unmarked = [position for position, originals in known.items() if originals is None]
    sample = random.Random(seed).sample(unmarked, min(others, len(unmarked)))  # noqa: S311 - a sample, no secret
    return dict.fromkeys(duplicates, 1.0) | dict.fromkeys(sample, len(unmarked) / max(len(sample), 1))


Truth = Mapping[int, frozenset[Id] | None]
"""Maps an arrival's position to its originals or None, as in `truth`."""

Found = tuple[tuple[Id, float], ...]
"""Candidates with their confidence, best first."""


def choose(known: Truth, size: int | None, seed: int) -> dict[int, float]:
    """The positions to ask about (all, or a seeded sample of `size`), each with the number of arrivals it represents.

    Duplicates are rare, but most figures depend on them. So a third of a sample are duplicates: fewer if the file has
    too few duplicates, more if it has too few unmarked issues.
    """
    duplicates = [position for position, originals in known.items() if originals is not None]
    unmarked = [position for position, originals in known.items() if originals is None]
    if size is None or size >= len(known):
        return dict.fromkeys(known, 1.0)
    rng = random.Random(seed)  # noqa: S311 - a sample to measure by, no secret
    duplicate_count = max(min(len(duplicates), size // 3), size - len(unmarked))
    chosen: dict[int, float] = {}
    for positions, count in ((duplicates, duplicate_count), (unmarked, size - duplicate_count)):
        chosen |= dict.fromkeys(rng.sample(positions, count), len(positions) / max(count, 1))
    return dict(sorted(chosen.items()))


def read_answers(rows: Iterable[tuple[Any, str]], issues: Sequence[PastIssue]) -> dict[Id, Found]:
    """A replay's answers by the arrival's id. Each row of the answers' file comes with its location in the file.

    Raises UserError naming the location of a row that is malformed, answers for an issue a second time, or names an
    unknown issue or a candidate that arrived later. Confidences must be in [0, 1], and candidates best first.
    """
    position_of = {issue.id: at for at, issue in enumerate(issues)}
    found: dict[Id, Found] = {}
    for row, location in rows:
        try:
            id = _id(row["id"])
            candidates = tuple((_id(one["id"]), float(one["confidence"])) for one in row["candidates"])
        except (KeyError, TypeError, ValueError, OverflowError):
            shape = '{"id": …, "candidates": [{"id": …, "confidence": 0 to 1}, …]}'
            raise UserError(f"{location}: an answer has the form {shape}, as `doppel replay` writes it") from None
        if id not in position_of:
            raise UserError(f"{location}: the issues hold no {id!r}; is this a replay of another file?")
        if id in found:
            raise UserError(f"{location}: a second answer for {id!r}")
        _check(candidates, position_of, position_of[id], location)
        found[id] = candidates
    return found


def _id(value: Any) -> Id:
    """The value, if it is a number or a string. Raises TypeError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise TypeError("an id is a number or a string")
    return value


def _check(candidates: Found, position_of: Mapping[Id, int], position: int, location: str) -> None:
    confidences = [confidence for _, confidence in candidates]
    if not all(0 <= confidence <= 1 for confidence in confidences):
        raise UserError(f"{location}: a confidence lies between 0 and 1")
    if confidences != sorted(confidences, reverse=True):
        raise UserError(f"{location}: the candidates are not in the order of their confidence, best first")
    for id, _ in candidates:
        if id not in position_of:
            raise UserError(f"{location}: the issues hold no candidate {id!r}")
        if position_of[id] >= position:
            raise UserError(f"{location}: candidate {id!r} had not arrived yet, so that this replay proves nothing")


@dataclass(frozen=True, slots=True)
class Trial:
    """An evaluation's data: which arrivals to ask about, and which answers are right.

    `known` maps each position that can be judged to its originals, and `chosen` maps the positions to ask about to
    their weights. `marks` holds the file's labels, `decided` holds people's decisions about pairs.
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
        """The trial of `rows`, each with its location for error messages. Raises UserError if nothing can be judged."""
        issues = archive_of(rows)
        if not issues:
            raise UserError("there is no issue to judge")
        marks = labels_of([row for row, _ in rows], decided)
        known = dict(truth(issues, marks, warm))
        if not known:
            # A lower warm-up helps if any arrival can be judged without a warm-up.
            helps = any(truth(issues, marks, 0))
            why = "a lower --from leaves more to judge" if helps else "docs/evaluate.md says what is left out"
            raise UserError(f"none of {counted(len(issues), 'issue')} can be judged; {why}")
        return cls(issues, known, choose(known, sample, seed), marks, decided)

    def with_candidates(self, found: Mapping[Id, Found]) -> list[JudgedArrival]:
        """The chosen arrivals with the candidates found. An arrival without an entry in `found` has no candidates."""
        different = defaultdict[Id, set[Id]](set)
        for one, other in self.decided.different:
            different[one].add(other)
            different[other].add(one)
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

    def evaluation(self, found: Mapping[Id, Found], min_confidence: float) -> Evaluation:
        return evaluate(
            self.with_candidates(found),
            issues=len(self.issues),
            arrived=[self.issues[position].created_at for position in self.known],
            min_confidence=min_confidence,
        )


def as_the_bot_asks() -> ReplayOptions:
    """The default options (the index's sources, the shipped weights), but as many candidates as the figures need."""
    return ReplayOptions(top=max(DEPTHS))
