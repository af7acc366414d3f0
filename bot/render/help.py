"""The commands and options in words, for the help, the comment and docs/commands.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from bot.commands import COMMANDS, COMMANDS_LIMIT, LIMIT_SECONDS, OPTIONS, Name, Requirement
from bot.render.escape import code
from bot.words import Words


def duration(seconds: float, say: Words) -> str:
    """So many seconds, two at least since nobody types faster, or minutes."""
    if seconds <= 90:
        return say.seconds(count=max(2, math.ceil(seconds)))
    return say.minutes(count=round(seconds / 60))


_COMMANDS: Mapping[Name, Callable[[Words], str]] = {
    Name.RECHECK: Words.command_recheck,
    Name.SEARCH: Words.command_search,
    Name.EXPLAIN: Words.command_explain,
    Name.NOT: Words.command_not,
    Name.OF: Words.command_of,
    Name.UNDO: Words.command_undo,
    Name.MUTE: Words.command_mute,
    Name.UNMUTE: Words.command_unmute,
    Name.SCAN: Words.command_scan,
    Name.HELP: Words.command_help,
}
_OPTIONS: Mapping[str, Callable[[Words], str]] = {
    "open": Words.option_open,
    "closed": Words.option_closed,
    "all": Words.option_all,
    "confidence": Words.option_confidence,
    "threshold": Words.option_threshold,
    "limit": Words.option_limit,
    "fresh": Words.option_fresh,
}
_WHO: Mapping[Requirement, Callable[[Words], str]] = {
    Requirement.ANYONE: Words.who_anyone,
    Requirement.AUTHOR_OR_TRIAGE: Words.who_author_or_triage,
    Requirement.TRIAGE: Words.who_triage,
    Requirement.MAINTAIN: Words.who_maintain,
}


def command_words(name: Name, say: Words) -> str:
    """What a command does."""
    return _COMMANDS[name](say)


def option_words(option: str, say: Words) -> str:
    """What an option does; `option` is as the table of commands has it."""
    return _OPTIONS[option.partition("=")[0]](say)


def who_words(who: Requirement, say: Words) -> str:
    """A requirement in words."""
    return _WHO[who](say)


def help_text(say: Words) -> str:
    """The answer to `help`."""
    return f"{say.help_intro()}\n\n{commands_list(say)}"


def commands_list(say: Words) -> str:
    """What can be written, what it does, and who may."""
    commands = []
    for row in COMMANDS:
        command, says = code(row.syntax), command_words(row.name, say)
        if row.who is Requirement.ANYONE:
            commands.append(say.command(command=command, says=says))
        else:
            commands.append(say.command_for(command=command, says=says, who=who_words(row.who, say)))
    options = [say.command(command=code(option), says=option_words(option, say)) for option in OPTIONS]
    limit = say.help_limit(most=COMMANDS_LIMIT, wait=duration(LIMIT_SECONDS, say))
    blocks = ["\n".join(f"- {line}" for line in lines) for lines in (commands, options)]
    return "\n\n".join([blocks[0], say.help_options(), blocks[1], limit])
