"""From rows of past issues to the figures: who is asked about, what the finder answers, how that is judged."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from bot.domain.errors import UserError
from bot.domain.formats import counted
from bot.quality.evaluation import labels
from bot.quality.evaluation.metrics import DEPTHS, Id, Judged
from bot.quality.evaluation.report import Evaluation, evaluate
from bot.quality.feedback import UNDECIDED, Decided
from bot.quality.replay import Asking, PastIssue, replay_index, replay_search
from bot.quality.replay.archive import archive_of
from bot.quality.replay.running import Answered

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


@dataclass(frozen=True, slots=True)
class Trial:
    """`known` is what should be found at each position that can be judged, `chosen` the positions that are asked about
    with the arrivals that each stands for; `marks` are what people said of duplicates, which may be nothing, and
    `decided` what they decided about pairs where the bot asked them.
    """

    issues: Sequence[PastIssue]
    known: Truth
    chosen: Mapping[int, float]
    marks: labels.Labels
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
        marks = labels.labels_of([row for row, _ in rows], decided)
        known = dict(labels.truth(issues, marks, warm))
        if not known:
            # A warm-up of nothing leaves all to judge that can be.
            helps = any(labels.truth(issues, marks, 0))
            why = "a lower --from leaves more to judge" if helps else "docs/evaluate.md says what is left out"
            raise UserError(f"none of {counted(len(issues), 'issue')} can be judged; {why}")
        return cls(issues, known, choose(known, sample, seed), marks, decided)

    def only(self, answered: Mapping[Id, Found]) -> Trial:
        """The same, asking about those arrivals alone that were answered."""
        chosen = {position: weight for position, weight in self.chosen.items() if self.issues[position].id in answered}
        return replace(self, chosen=chosen)

    def ask(self, asking: Asking, jobs: int | None, advance: Callable[[], None]) -> dict[Id, Found]:
        """Let the issues arrive, and ask the finder; `advance` hears of each arrival."""
        return {one.id: one.candidates for one in self.replayed(asking, jobs, advance, self.chosen)}

    def replayed(
        self, asking: Asking, jobs: int | None, advance: Callable[[], None], positions: Collection[int]
    ) -> list[Answered]:
        """The same of any arrivals, with all that the replay tells of them."""
        replay = partial(replay_index, jobs=jobs) if asking.indexed else replay_search
        answers = replay(self.issues, positions, asking, advance=advance)
        return [one for one in answers if one is not None]

    def judged(self, found: Mapping[Id, Found]) -> list[Judged]:
        """The arrivals with what was found; where `found` does not say, that was nothing."""
        different: dict[Id, set[Id]] = {}
        for one, other in self.decided.different:
            different.setdefault(one, set()).add(other)
            different.setdefault(other, set()).add(one)
        return [
            Judged(
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


def as_the_bot_asks() -> Asking:
    """The bot's own sources and weights, and as many candidates as are judged."""
    return Asking(top=max(DEPTHS))
