"""The commands and options in words, for the help, the comment and docs/commands.md."""

from __future__ import annotations

import math

from bot.conversation.commands import COMMANDS, COMMANDS_LIMIT, LIMIT_SECONDS, OPTIONS, Name, Requirement
from bot.conversation.render.escape import code
from bot.conversation.words import Words


def duration(seconds: float, say: Words) -> str:
    """So many seconds, two at least since nobody types faster, or minutes."""
    if seconds <= 90:
        return say.seconds(count=max(2, math.ceil(seconds)))
    return say.minutes(count=round(seconds / 60))


def command_words(name: Name, say: Words) -> str:
    """What a command does."""
    return say.fill(f"command_{name.name.lower()}", {})


def option_words(option: str, say: Words) -> str:
    """What an option does; `option` is as the table of commands has it."""
    return say.fill(f"option_{option.partition('=')[0]}", {})


def who_words(who: Requirement, say: Words) -> str:
    """A requirement in words."""
    return say.fill(f"who_{who.name.lower()}", {})


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
