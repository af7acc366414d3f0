"""Commands, reasons and remarks in words, for comments, replies and docs/commands.md."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bot.conversation.commands.table import COMMANDS, COMMANDS_LIMIT, LIMIT_SECONDS, OPTIONS, CommandName, Requirement
from bot.conversation.messages.catalogue import Messages
from bot.conversation.messages.message import COUNT
from bot.conversation.render.escape import code, escape
from bot.domain.errors import Remark, RemarkCode
from bot.domain.report import Candidate, Reason, ReasonCode


def duration(seconds: float, say: Messages) -> str:
    """Seconds, at least two, or minutes."""
    if seconds <= 90:
        return say.seconds(count=max(2, math.ceil(seconds)))
    return say.minutes(count=round(seconds / 60))


def command_words(name: CommandName, say: Messages) -> str:
    """What a command does."""
    return say.fill(f"command_{name.name.lower()}", {})


def option_words(option: str, say: Messages) -> str:
    """What an option does; `option` is as the table of commands has it."""
    return say.fill(f"option_{option.partition('=')[0]}", {})


def who_words(who: Requirement, say: Messages) -> str:
    """A requirement in words."""
    return say.fill(f"who_{who.name.lower()}", {})


def help_text(say: Messages) -> str:
    """The answer to `help`."""
    return f"{say.help_intro()}\n\n{commands_list(say)}"


def commands_list(say: Messages) -> str:
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


REASONS_MAX = 5
_VECTORS = "vectors"


def reason_words(candidate: Candidate, say: Messages) -> list[str]:
    """The strongest reasons; without any, that the semantic index found it, if it did."""
    return reasons_in(candidate.reasons, say) or ([say.by_meaning()] if _VECTORS in candidate.sources else [])


def strongest(reasons: Sequence[Reason]) -> Sequence[Reason]:
    """The one reason to show (C3), with GitHub's opinion (F8a) and what speaks against it.

    It is the first one, but several words of titles go before a single identifier.
    """
    beside = [reason for reason in reasons if reason.shared in (ReasonCode.GITHUB, ReasonCode.SURFACE)]
    own = [reason for reason in reasons if reason not in beside]
    if own and own[0].shared is ReasonCode.IDENTIFIERS and len(own[0].quoted) == 1:
        own = [one for one in own if one.shared is ReasonCode.TITLES and len(one.quoted) > 1][:1] or own
    return [*own[:1], *beside]


def reasons_in(reasons: Sequence[Reason], say: Messages) -> list[str]:
    """The reasons as Markdown, without those whose quotes show nothing."""
    return [said for said in (_said(reason, list(map(escape, reason.quoted)), say) for reason in reasons) if said][
        :REASONS_MAX
    ]


def _said(reason: Reason, quoted: Sequence[str], say: Messages) -> str:
    quote = ", ".join(quoted)
    match reason.shared:
        case ReasonCode.COPY:
            return say.reason_copy()
        case ReasonCode.GITHUB:
            return say.reason_github()
        case ReasonCode.SURFACE:
            mine, theirs = quoted
            return say.reason_surface(mine=mine, theirs=theirs)
        case _ if not quote:
            return ""
        case ReasonCode.CAUSE:
            return say.reason_cause(cause=quote)
        case ReasonCode.MESSAGE:
            return say.reason_message(message=quote)
        case ReasonCode.IDENTIFIERS:
            return say.reason_identifiers(names=quote)
        case ReasonCode.TITLES:
            return say.reason_titles(words=quote)
        case ReasonCode.WORDS:
            return say.reason_words(words=quote)


def remark_words(remark: Remark, say: Messages) -> str:
    """A remark as Markdown in the comment's language; others' words stay as they are."""
    match remark.code, remark.values:
        case RemarkCode.NOT_FOUND_AND_LEFT, (int(missing), int(left)):
            return say.comma().join([say.remark_not_found(count=missing), say.remark_left(count=left)])
        case RemarkCode.BY_WORDS, (str(reasons),):
            return say.remark_by_words(reasons=escape(reasons))
        case RemarkCode.LEFT_OUT, (int(missing), int(named)):
            return say.remark_left_out(missing=missing, named=named)
        case RemarkCode.OTHERS, _:
            return escape(str(remark))
        case kind, () | (int(),) as counts:
            return say.fill(f"remark_{kind.name.lower()}", dict(zip((COUNT,), counts, strict=False)))
        case _:
            return escape(str(remark))
