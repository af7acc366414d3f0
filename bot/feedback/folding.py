"""When the bot's own comment is folded, and shown again. Pure.

A 👎 of the issue's author or of somebody with triage access folds it, once, unless somebody with triage access gives it
a 👍. If they take that back, or somebody with triage access disagrees, it is shown again, and not folded any more. What
a person has folded or unfolded stays as they left it: a comment is not worth an argument.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, auto

from bot.judgements import Fold, Signal, Who


class Step(Enum):
    """What is to be done on GitHub."""

    NOTHING = auto()
    FOLD = auto()
    UNFOLD = auto()


def decide(fold: Fold, present: str, ours: str, votes: Iterable[Signal]) -> tuple[Step, Fold]:
    """What to do, and what to note when it is done.

    `present` is the reason with which GitHub shows the comment folded, empty where it is not; `ours` is that with which
    the bot folds.
    """
    votes = list(votes)
    against = any(not vote.same and vote.who is not Who.OTHER for vote in votes)
    overruled = any(vote.same and vote.who is Who.TRIAGE for vote in votes)
    unwanted = against and not overruled
    if fold is Fold.OPEN and unwanted and not present:
        return Step.FOLD, Fold.FOLDED
    if fold is Fold.FOLDED and present != ours:
        return Step.NOTHING, Fold.LEFT
    if fold is Fold.FOLDED and not unwanted:
        return Step.UNFOLD, Fold.LEFT
    return Step.NOTHING, fold
