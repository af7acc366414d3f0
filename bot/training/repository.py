"""What issues to learn from arrive in."""

from __future__ import annotations

from typing import Protocol

from bot.index.postings.packing import Floats, Integers
from bot.matching.readings import Likeness
from bot.model import Issue
from bot.replay import PastIssue


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
