"""What the bot would do on an issue if nobody asked it (P6). Pure."""

from __future__ import annotations

from dataclasses import dataclass

from bot.likelihood import LIKELY, Likelihood, likelihood
from bot.report import Candidate

SHADOW = "mode: shadow"
"""The silence of a bot that looks all the same."""


@dataclass(frozen=True, slots=True)
class Unasked:
    """What the bot would do on the issue of its own accord, by the settings of the repository.

    `named` are what it would name, shown or not; `bar` is the probability that this takes, `likely` where the
    upper tier begins. `silence` is why it says nothing there for all that, empty where it speaks.
    """

    named: tuple[Candidate, ...]
    bar: float
    likely: float = LIKELY
    silence: str = ""

    def names(self, candidate: Candidate) -> bool:
        """Whether it would name this one."""
        return any(_key(one) == _key(candidate) for one in self.named)

    def word(self, candidate: Candidate) -> Likelihood | None:
        """The candidate's probability as a word (P4); None where no model judged it."""
        return None if candidate.confidence is None else likelihood(candidate.confidence, self.likely)


def _key(candidate: Candidate) -> tuple[str, str, int]:
    return candidate.repo, candidate.kind, candidate.number
