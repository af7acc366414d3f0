"""From rows of past issues to the figures: who is asked about, what the finder answers, how that is judged.

The command line and the dashboard's background work both go this way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from bot.counted import counted
from bot.errors import UserError
from bot.evaluation import judging, labels
from bot.evaluation.judging import Found, Truth
from bot.evaluation.metrics import DEPTHS, Id
from bot.evaluation.report import Evaluation, evaluate
from bot.feedback.decided import UNDECIDED, Decided
from bot.replay import Asking, PastIssue, replay_index, replay_search
from bot.replay.archive import archive_of


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
        return cls(issues, known, judging.choose(known, sample, seed), marks, decided)

    def only(self, answered: Mapping[Id, Found]) -> Trial:
        """The same, asking about those arrivals alone that were answered."""
        return replace(self, chosen=judging.answered(self.chosen, self.issues, answered))

    def ask(self, asking: Asking, jobs: int | None, advance: Callable[[], None]) -> dict[Id, Found]:
        """Let the issues arrive, and ask the finder; `advance` hears of each arrival."""
        replay = partial(replay_index, jobs=jobs) if asking.indexed else replay_search
        answers = replay(self.issues, self.chosen, asking, advance=advance)
        return {one.id: one.candidates for one in answers if one is not None}

    def judge(self, found: Mapping[Id, Found], min_confidence: float) -> Evaluation:
        """What the answers are worth."""
        return evaluate(
            judging.judge(self.issues, self.known, found, self.chosen, self.decided),
            issues=len(self.issues),
            arrived=[self.issues[position].created_at for position in self.known],
            min_confidence=min_confidence,
        )


def as_the_bot_asks() -> Asking:
    """The bot's own sources and weights, and as many candidates as are judged."""
    return Asking(top=max(DEPTHS))
