"""The one table of commands: the parser, the help and the documentation are made from it (C4, C5)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot.model import Permission

COMMAND = "/duplicates"


class Name(StrEnum):
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


class Requirement(StrEnum):
    """Who may use a command (C5)."""

    ANYONE = "anyone"
    AUTHOR_OR_TRIAGE = "author or triage"
    TRIAGE = "triage"
    MAINTAIN = "maintain"


class Takes(StrEnum):
    """What follows the command's word."""

    NOTHING = "nothing"
    OPTIONS = "options"
    WORDS = "words and options"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Row:
    """A command: what it takes, how it is written, and who may use it. What it does is said by `bot/render/help.py`.

    `elsewhere` are those that take an issue of another repository as well.
    """

    name: Name
    takes: Takes
    syntax: str
    who: Requirement
    elsewhere: bool = False


COMMANDS_LIMIT = 20
"""So many commands a person without triage access may give within LIMIT_SECONDS in all repositories of an installation
(C5); each can cost several searches."""

LIMIT_SECONDS = 3600.0

OPTIONS = ("open", "closed", "all", "confidence=0.1", "threshold=0.4", "limit=3", "fresh")
"""What can be added to a re-check and, after the words, to a search."""

COMMANDS: tuple[Row, ...] = (
    Row(Name.RECHECK, Takes.OPTIONS, COMMAND, Requirement.ANYONE),
    Row(Name.SEARCH, Takes.WORDS, f"{COMMAND} search WORDS…", Requirement.ANYONE),
    Row(Name.EXPLAIN, Takes.NUMBER, f"{COMMAND} explain #N", Requirement.ANYONE),
    Row(Name.NOT, Takes.NUMBER, f"{COMMAND} not #N", Requirement.AUTHOR_OR_TRIAGE, elsewhere=True),
    Row(Name.OF, Takes.NUMBER, f"{COMMAND} of #N", Requirement.TRIAGE),
    Row(Name.UNDO, Takes.NOTHING, f"{COMMAND} undo", Requirement.ANYONE),
    Row(Name.MUTE, Takes.NOTHING, f"{COMMAND} mute", Requirement.AUTHOR_OR_TRIAGE),
    Row(Name.UNMUTE, Takes.NOTHING, f"{COMMAND} unmute", Requirement.AUTHOR_OR_TRIAGE),
    Row(Name.SCAN, Takes.NOTHING, f"{COMMAND} scan", Requirement.MAINTAIN),
    Row(Name.HELP, Takes.NOTHING, f"{COMMAND} help", Requirement.ANYONE),
)
"""All commands, in the order of the help."""

BY_NAME: dict[Name, Row] = {row.name: row for row in COMMANDS}


def allowed(who: Requirement, permission: Permission, is_author: bool) -> bool:
    """Whether somebody meets a requirement.

    `permission` holds the booleans of "Get repository permissions for a user" (its `permission` word knows neither
    triage nor maintain); `is_author` is whether they wrote the issue. A higher role includes the lower ones.
    """
    maintain = permission.maintain or permission.admin
    triage = permission.triage or permission.push or maintain
    return {
        Requirement.ANYONE: True,
        Requirement.AUTHOR_OR_TRIAGE: is_author or triage,
        Requirement.TRIAGE: triage,
        Requirement.MAINTAIN: maintain,
    }[who]
