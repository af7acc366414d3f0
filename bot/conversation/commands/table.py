"""The table of commands (C4, C5) for parser, help and documentation, and the classes of the parser's results."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot.domain.entities import Permission, StateFilter

COMMAND, SHORT_COMMAND = "/duplicates", "/dup"
"""The word that begins a command, and its short form. `@doppel duplicates`, with the App's own name, works too."""


class CommandName(StrEnum):
    """The commands; `/duplicates` without a further word is a re-check."""

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
"""Other words for a command. The parser also reads `duplicate of` as `of`."""


class Requirement(StrEnum):
    """Who may use a command (C5)."""

    ANYONE = "anyone"
    AUTHOR_OR_TRIAGE = "author or triage"
    TRIAGE = "triage"


class Arguments(StrEnum):
    """The arguments after the command's word."""

    NOTHING = "nothing"
    OPTIONS = "options"
    WORDS = "words and options"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """A command, and who may use it. `elsewhere`: it may name an issue of another repository."""

    name: CommandName
    takes: Arguments
    syntax: str
    who: Requirement
    elsewhere: bool = False


COMMANDS_LIMIT = 20
"""The most commands of a person without triage access within LIMIT_SECONDS (C5). Commands in all
repositories of an installation count together."""

LIMIT_SECONDS = 3600.0

OPTIONS = ("open", "closed", "all", "confidence=0.1", "threshold=0.4", "limit=3", "fresh")
"""The options of a re-check and of a search, some with an example of a value."""

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

COMMANDS_BY_NAME: dict[CommandName, CommandSpec] = {spec.name: spec for spec in COMMANDS}


def allowed(who: Requirement, permission: Permission, is_author: bool) -> bool:
    """Whether a person meets a requirement. Push, maintain and admin access include triage access."""
    triage = permission.triage or permission.push or permission.maintain or permission.admin
    return {
        Requirement.ANYONE: True,
        Requirement.AUTHOR_OR_TRIAGE: is_author or triage,
        Requirement.TRIAGE: triage,
    }[who]


@dataclass(frozen=True, slots=True)
class CommandOptions:
    """The options of a re-check or a search; None leaves the default. `fresh` skips caches."""

    state: StateFilter | None = None
    confidence: float | None = None  # the least probability
    threshold: float | None = None  # the least similarity of titles
    limit: int | None = None
    fresh: bool = False

    @property
    def narrow(self) -> bool:
        """Whether the options can hide every candidate, and so leave the list empty."""
        return self.state in ("open", "closed") or self.confidence is not None or self.threshold is not None


@dataclass(frozen=True, slots=True)
class Command:
    """A valid command. `line` is its text. `repo` is the `owner/repo` of an issue in another repository, else empty."""

    name: CommandName
    line: str
    number: int | None = None
    words: tuple[str, ...] = ()
    options: CommandOptions = CommandOptions()
    repo: str = ""

    @property
    def spec(self) -> CommandSpec:
        return COMMANDS_BY_NAME[self.name]


@dataclass(frozen=True, slots=True)
class MisspeltCommand:
    """A line for the bot with an unknown word. `suggestion` is the nearest complete command, or empty."""

    line: str
    word: str
    suggestion: str


class CommandProblem(StrEnum):
    """The mistakes that a known command can have."""

    NUMBER_MISSING = "number missing"
    NUMBER_UNREADABLE = "number unreadable"
    OTHER_REPOSITORY = "other repository"
    WORDS_MISSING = "words missing"
    WORDS_TOO_LONG = "words too long"
    OPTION_VALUE = "option value"
    TOO_MUCH = "too much"  # A word more than the command takes.
    TOO_MANY = "too many"  # More commands than one comment may have.


@dataclass(frozen=True, slots=True)
class InvalidCommand:
    """A known command with a mistake; `value` is the wrong part, shortened."""

    line: str
    name: CommandName
    problem: CommandProblem
    value: str = ""

    @property
    def spec(self) -> CommandSpec:
        return COMMANDS_BY_NAME[self.name]


ParsedLine = Command | MisspeltCommand | InvalidCommand
