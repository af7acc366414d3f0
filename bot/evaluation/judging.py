"""Which arrivals are asked about, and what was found for them beside what should have been. Pure."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from bot.errors import UserError
from bot.evaluation.metrics import Id, Judged
from bot.feedback.decided import UNDECIDED, Decided
from bot.replay.archive import PastIssue

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


def judge(
    issues: Sequence[PastIssue],
    known: Truth,
    found: Mapping[Id, Found],
    weights: Mapping[int, float],
    decided: Decided = UNDECIDED,
) -> list[Judged]:
    """The arrivals that have a weight, with what was found; nothing, where `found` does not say."""
    different: dict[Id, set[Id]] = {}
    for one, other in decided.different:
        different.setdefault(one, set()).add(other)
        different.setdefault(other, set()).add(one)
    return [
        Judged(
            id=issues[at].id,
            arrived=issues[at].created_at,
            originals=known[at],
            found=found.get(issues[at].id, ()),
            weight=weight,
            different=frozenset(different.get(issues[at].id, ())),
        )
        for at, weight in weights.items()
    ]


def answers(rows: Iterable[tuple[Any, str]], issues: Sequence[PastIssue]) -> dict[Id, Found]:
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


def answered(weights: Mapping[int, float], issues: Sequence[PastIssue], given: Collection[Id]) -> dict[int, float]:
    """Of the positions those for which an answer was given."""
    return {position: weight for position, weight in weights.items() if issues[position].id in given}
