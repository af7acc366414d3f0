"""What people do during a chaos run, drawn from a seed, and what the bot must have said in the end. Pure.

Each issue has two earlier reports of its own, in made-up words that no other issue has. Its text is about the first,
the second or neither, and edits switch between them, so that what a calm bot would show follows from the text alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["open", "edit", "close", "reopen", "label", "unlabel", "help", "recheck", "reject", "sweep", "delete"]
# How often each is drawn where it is possible. `sweep` is a maintainer who deletes the bot's comment.
_WEIGHTS: dict[Kind, int] = {
    "edit": 26,
    "close": 9,
    "reopen": 12,
    "label": 8,
    "unlabel": 10,
    "help": 8,
    "recheck": 6,
    "reject": 3,
    "sweep": 1,
    "delete": 1,
}
QUIET = "quiet"
"""The label that the repositories' settings tell the bot to leave alone."""

_SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in ("a", "e", "i", "o", "u", "ar", "in", "or")]


@dataclass(frozen=True, slots=True)
class Deed:
    """One thing that happens to the issue `issue` of the story. `about` is 0 or 1 for its originals, 2 for neither."""

    kind: Kind
    issue: int
    about: int = 2


@dataclass(slots=True)
class Tale:
    """One issue as the story has it so far: what it is about, and in which state."""

    about: int = 2
    there: bool = False
    closed: bool = False
    labelled: bool = False
    swept: bool = False
    deleted: bool = False
    rejected: set[int] = field(default_factory=set)
    # Everything that a look at some moment may have answered.
    ever: set[int] = field(default_factory=set)

    def possible(self) -> list[Kind]:
        """What can happen next."""
        if self.deleted:
            return []
        if not self.there:
            return ["open"]
        kinds: list[Kind] = ["edit", "help", "sweep", "delete"]
        kinds += ["reopen"] if self.closed else ["close", "recheck"]
        kinds += ["unlabel"] if self.labelled else ["label"]
        return kinds + (["reject"] if self.about < 2 and self.about not in self.rejected else [])

    def take(self, deed: Deed) -> None:
        """Let it happen."""
        match deed.kind:
            case "open" | "edit":
                self.there, self.about = True, deed.about
                self.ever.add(deed.about)
            case "close":
                self.closed = True
            case "reopen":
                self.closed = False
            case "label":
                self.labelled = True
            case "unlabel":
                self.labelled = False
            case "reject":
                self.rejected.add(deed.about)
            case "delete":
                self.deleted = True

    @property
    def settled(self) -> bool:
        """Whether the last look must have been at the present text: later ones were not forbidden."""
        return not (self.closed or self.labelled)

    @property
    def wanted(self) -> int:
        """What the comment must show once it is settled: 0, 1, or 2 for nothing."""
        return 2 if self.about in self.rejected else self.about


class Story:
    """`issues` issues and `deeds` deeds. Two more issues are named and never drawn, for what is poison."""

    def __init__(self, seed: int, issues: int, deeds: int) -> None:
        rng = random.Random(seed)
        self.names = [tuple(self._words(rng) for _ in range(3)) for _ in range(issues + 2)]
        self.deeds = list(_draw(rng, issues, deeds))

    def title(self, issue: int, about: int) -> str:
        """The title of a report of one of its three topics."""
        one, two, three, _ = self.names[issue][about]
        return f"{one.capitalize()} {two} {three}"

    def body(self, issue: int, about: int, serial: int = 0) -> str:
        """Its body; `serial` makes one edit differ from another."""
        one, two, three, four = self.names[issue][about]
        return f"`{one}_{two}: {three} {four}`" + (f" ({serial})" if serial else "")

    @staticmethod
    def _words(rng: random.Random) -> Sequence[str]:
        return ["".join(rng.choices(_SYLLABLES, k=4)) for _ in range(4)]


def _draw(rng: random.Random, issues: int, deeds: int) -> Iterator[Deed]:
    """Every issue is opened; then, at random, so many deeds as there shall be in all."""
    tales = [Tale() for _ in range(issues)]
    unopened = list(range(issues))
    for turn in range(deeds):
        # Openings are spread over the first two thirds.
        among = [n for n, tale in enumerate(tales) if tale.there and not tale.deleted]
        opening = unopened and (not among or rng.random() < 1.5 * issues / deeds or len(unopened) >= deeds - turn)
        if not opening and not among:
            return
        at = unopened.pop(0) if opening else rng.choice(among)
        kinds = tales[at].possible()
        kind = rng.choices(kinds, [_WEIGHTS.get(one, 1) for one in kinds])[0]
        about = tales[at].about
        if kind in ("open", "edit"):
            about = rng.choice([0, 0, 1, 1, 2]) if kind == "open" else rng.choice([n for n in range(3) if n != about])
        deed = Deed(kind, at, about)
        tales[at].take(deed)
        yield deed
