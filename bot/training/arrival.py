"""What issues to learn from arrive in, and each arrival with the candidates that were compared with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from bot.index.postings.packing import Floats, Integers
from bot.matching.readings import Likeness
from bot.model import Issue
from bot.replay import PastIssue
from bot.training.readings import Read


@dataclass(frozen=True, slots=True)
class Arrival:
    """One issue with its candidates: (candidates, features), which of the issues before it each is, counted back from
    0, and whether each is the `same`.

    `earlier` is how many issues there were before it, `stands_for` how many issues of its kind it is a sample of.
    `young` is one of a repository's first, which came when it was small itself. `read` is what careful readers said of
    its candidates; what was chosen for that alone stands for no issue.
    """

    earlier: int
    values: Floats
    back: Integers
    same: Floats
    stands_for: float
    young: bool = False
    read: Read | None = None


class Repository(Protocol):
    """A repository in which issues arrive, and can be compared with those that came before them."""

    def arrive(self, past: PastIssue) -> Issue:
        """The next issue, numbered from 1 on."""
        ...

    def compared(self, issue: Issue) -> tuple[Integers, Floats]:
        """The numbers of the candidates for the issue that arrived last, and (candidates, features)."""
        ...

    def likeness(self, issue: Issue, numbers: Integers, places: Integers) -> Likeness:
        """What the text model says of some of the candidates for the issue that arrived last, by their places."""
        ...

    def keep(self, issue: Issue) -> None:
        """The issue that arrived last has been looked at, and is one of those before the next."""
        ...
