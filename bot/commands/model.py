"""What the parser makes of a line: a command that can be carried out, or what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot.commands.table import BY_NAME, Name, Row
from bot.model import StateFilter


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked to differ from the repository's settings; None where nothing was said."""

    state: StateFilter | None = None
    confidence: float | None = None
    threshold: float | None = None
    limit: int | None = None
    fresh: bool = False

    @property
    def narrow(self) -> bool:
        """Whether less is looked at or shown than without them: that nothing is left does not follow then."""
        return self.state in ("open", "closed") or self.confidence is not None or self.threshold is not None


@dataclass(frozen=True, slots=True)
class Command:
    """A command that can be carried out. `line` is how it was written, to tell whether an edit changed it.

    `repo` is `owner/repo` where `number` is another repository's, else empty.
    """

    name: Name
    line: str
    number: int | None = None
    words: tuple[str, ...] = ()
    options: Options = Options()
    repo: str = ""

    @property
    def row(self) -> Row:
        """What the table says of this command."""
        return BY_NAME[self.name]


@dataclass(frozen=True, slots=True)
class Misspelt:
    """A line that was meant for us but has an unknown word. `suggestion` is a whole command, empty if none is near."""

    line: str
    word: str
    suggestion: str


class Problem(StrEnum):
    """What is wrong with a known command."""

    NUMBER_MISSING = "number missing"
    NUMBER_UNREADABLE = "number unreadable"
    OTHER_REPOSITORY = "other repository"
    WORDS_MISSING = "words missing"
    WORDS_TOO_LONG = "words too long"
    OPTION_VALUE = "option value"
    TOO_MUCH = "too much"
    TOO_MANY = "too many"


@dataclass(frozen=True, slots=True)
class Invalid:
    """A known command that cannot be carried out as written; `value` is the part that is wrong, shortened."""

    line: str
    name: Name
    problem: Problem
    value: str = ""

    @property
    def row(self) -> Row:
        """What the table says of this command."""
        return BY_NAME[self.name]


Parsed = Command | Misspelt | Invalid
