"""The one table of commands: the parser, the help and the documentation are made from it (C4, C5). And what the parser
makes of a line: a command that can be carried out, or what is wrong with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot.domain.entities import Permission, StateFilter

COMMAND, SHORT_COMMAND = "/duplicates", "/dup"
"""How a command begins, and how it may begin as well. The App's own name does too: `@doppel duplicates`."""


class CommandName(StrEnum):
    """The commands; a re-check has no word of its own."""

    RECHECK = ""
    SEARCH = "search"
    EXPLAIN = "explain"
    NOT = "not"
    OF = "of"
    UNDO = "undo"
    MUTE = "mute"
    UNMUTE = "unmute"
    SCAN = "scan"
    HELP = "help"


ALIASES = {"close": CommandName.OF}
"""Other words for a command; beside them `duplicate of` stands for `of`."""


class Requirement(StrEnum):
    """Who may use a command (C5)."""

    ANYONE = "anyone"
    AUTHOR_OR_TRIAGE = "author or triage"
    TRIAGE = "triage"


class Arguments(StrEnum):
    """What follows the command's word."""

    NOTHING = "nothing"
    OPTIONS = "options"
    WORDS = "words and options"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """A command: what it takes, how it is written, and who may use it. What it does is said by
    `bot/conversation/render/phrases.py`.

    `elsewhere` are those that take an issue of another repository as well.
    """

    name: CommandName
    takes: Arguments
    syntax: str
    who: Requirement
    elsewhere: bool = False


COMMANDS_LIMIT = 20
"""So many commands a person without triage access may give within LIMIT_SECONDS in all repositories of an installation
(C5); each can cost several searches."""

LIMIT_SECONDS = 3600.0

OPTIONS = ("open", "closed", "all", "confidence=0.1", "threshold=0.4", "limit=3", "fresh")
"""What can be added to a re-check and, after the words, to a search."""

COMMANDS: tuple[CommandSpec, ...] = (
    CommandSpec(CommandName.RECHECK, Arguments.OPTIONS, COMMAND, Requirement.ANYONE),
    CommandSpec(CommandName.SEARCH, Arguments.WORDS, f"{COMMAND} search WORDS…", Requirement.ANYONE),
    CommandSpec(CommandName.EXPLAIN, Arguments.NUMBER, f"{COMMAND} explain #N", Requirement.ANYONE),
    CommandSpec(CommandName.NOT, Arguments.NUMBER, f"{COMMAND} not #N", Requirement.AUTHOR_OR_TRIAGE, elsewhere=True),
    CommandSpec(CommandName.OF, Arguments.NUMBER, f"{COMMAND} of #N", Requirement.AUTHOR_OR_TRIAGE),
    CommandSpec(CommandName.UNDO, Arguments.NOTHING, f"{COMMAND} undo", Requirement.ANYONE),
    CommandSpec(CommandName.MUTE, Arguments.NOTHING, f"{COMMAND} mute", Requirement.AUTHOR_OR_TRIAGE),
    CommandSpec(CommandName.UNMUTE, Arguments.NOTHING, f"{COMMAND} unmute", Requirement.AUTHOR_OR_TRIAGE),
    CommandSpec(CommandName.SCAN, Arguments.NOTHING, f"{COMMAND} scan", Requirement.TRIAGE),
    CommandSpec(CommandName.HELP, Arguments.NOTHING, f"{COMMAND} help", Requirement.ANYONE),
)
"""All commands, in the order of the help."""

COMMANDS_BY_NAME: dict[CommandName, CommandSpec] = {row.name: row for row in COMMANDS}


def allowed(who: Requirement, permission: Permission, is_author: bool) -> bool:
    """Whether somebody meets a requirement.

    `permission` holds the booleans of "Get repository permissions for a user" (its `permission` word knows neither
    triage nor maintain); `is_author` is whether they wrote the issue. A higher role includes the lower ones.
    """
    triage = permission.triage or permission.push or permission.maintain or permission.admin
    return {
        Requirement.ANYONE: True,
        Requirement.AUTHOR_OR_TRIAGE: is_author or triage,
        Requirement.TRIAGE: triage,
    }[who]


@dataclass(frozen=True, slots=True)
class CommandOptions:
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

    name: CommandName
    line: str
    number: int | None = None
    words: tuple[str, ...] = ()
    options: CommandOptions = CommandOptions()
    repo: str = ""

    @property
    def row(self) -> CommandSpec:
        """What the table says of this command."""
        return COMMANDS_BY_NAME[self.name]


@dataclass(frozen=True, slots=True)
class MisspeltCommand:
    """A line that was meant for us but has an unknown word. `suggestion` is a whole command, empty if none is near."""

    line: str
    word: str
    suggestion: str


class CommandProblem(StrEnum):
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
class InvalidCommand:
    """A known command that cannot be carried out as written; `value` is the part that is wrong, shortened."""

    line: str
    name: CommandName
    problem: CommandProblem
    value: str = ""

    @property
    def row(self) -> CommandSpec:
        """What the table says of this command."""
        return COMMANDS_BY_NAME[self.name]


ParsedLine = Command | MisspeltCommand | InvalidCommand
