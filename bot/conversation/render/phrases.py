"""Puts commands, reasons and remarks into words, for comments, replies and docs/commands.md."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bot.conversation.commands.table import COMMANDS, COMMANDS_LIMIT, LIMIT_SECONDS, OPTIONS, CommandName, Requirement
from bot.conversation.messages.catalogue import COUNT, Messages
from bot.conversation.render.escape import code, escape
from bot.domain.errors import Remark, RemarkCode
from bot.domain.report import Candidate, Reason, ReasonCode


def duration(seconds: float, say: Messages) -> str:
    """A duration in words: up to 90 seconds as seconds (never fewer than two), longer ones as minutes."""
    if seconds <= 90:
        return say.seconds(count=max(2, math.ceil(seconds)))
    return say.minutes(count=round(seconds / 60))


def command_words(name: CommandName, say: Messages) -> str:
    return say.fill(f"command_{name.name.lower()}", {})


def who_words(who: Requirement, say: Messages) -> str:
    return say.fill(f"who_{who.name.lower()}", {})


def help_text(say: Messages) -> str:
    return f"{say.help_intro()}\n\n{commands_list(say)}"


def commands_list(say: Messages) -> str:
    command_lines = []
    for spec in COMMANDS:
        command, effect = code(spec.syntax), command_words(spec.name, say)
        if spec.who is Requirement.ANYONE:
            command_lines.append(say.command(command=command, says=effect))
        else:
            command_lines.append(say.command_for(command=command, says=effect, who=who_words(spec.who, say)))
    option_lines = [
        say.command(command=code(option), says=say.fill(f"option_{option.partition('=')[0]}", {})) for option in OPTIONS
    ]
    limit = say.help_limit(most=COMMANDS_LIMIT, wait=duration(LIMIT_SECONDS, say))
    commands, options = ("\n".join(f"- {line}" for line in lines) for lines in (command_lines, option_lines))
    return "\n\n".join([commands, say.help_options(), options, limit])


REASONS_MAX = 5
_VECTORS = "vectors"


def reason_words(candidate: Candidate, say: Messages) -> list[str]:
    """The reasons in words. If there are none, and vectors found the candidate, the only reason is `by_meaning`."""
    return reasons_in(candidate.reasons, say) or ([say.by_meaning()] if _VECTORS in candidate.sources else [])


def strongest(reasons: Sequence[Reason]) -> Sequence[Reason]:
    """The main reason (C3), then GitHub's verdict (F8a) and labels of different surfaces (app, editor, …), if any.

    The main reason is usually the first one. But several words that both titles share come before a single shared
    identifier.
    """
    extra = [reason for reason in reasons if reason.code in (ReasonCode.GITHUB, ReasonCode.SURFACE)]
    main = [reason for reason in reasons if reason not in extra]
    if main and main[0].code is ReasonCode.IDENTIFIERS and len(main[0].quoted) == 1:
        main = [reason for reason in main if reason.code is ReasonCode.TITLES and len(reason.quoted) > 1] or main
    return [*main[:1], *extra]


def reasons_in(reasons: Sequence[Reason], say: Messages) -> list[str]:
    """The reasons as Markdown. Leaves out each reason whose quote `escape` makes empty."""
    texts = (_reason_text(reason, list(map(escape, reason.quoted)), say) for reason in reasons)
    return [text for text in texts if text][:REASONS_MAX]


def _reason_text(reason: Reason, quoted: Sequence[str], say: Messages) -> str:
    quote = ", ".join(quoted)
    # The reasons COPY and GITHUB quote nothing.
    if not quote and reason.code not in (ReasonCode.COPY, ReasonCode.GITHUB):
        return ""
    # A reason's message uses at most one of these four variables. Only SURFACE's message uses `mine` and `theirs`.
    values = dict.fromkeys(("cause", "message", "names", "words"), quote)
    values |= dict(zip(("mine", "theirs"), quoted, strict=False))
    return say.fill(f"reason_{reason.code.name.lower()}", values)


def remark_words(remark: Remark, say: Messages) -> str:
    """A remark as Markdown in the comment's language. Texts of other programs are not translated."""
    match remark.code, remark.values:
        case RemarkCode.NOT_FOUND_AND_LEFT, (int(missing), int(left)):
            # Of the known issues (`known_run`), `missing` do not exist, and `left` were not read.
            return say.comma().join([say.remark_not_found(count=missing), say.remark_left(count=left)])
        case RemarkCode.BY_WORDS, (str(reasons),):
            return say.remark_by_words(reasons=escape(reasons))
        case RemarkCode.LEFT_OUT, (int(missing), int(named)):
            return say.remark_left_out(missing=missing, named=named)
        case RemarkCode.OTHERS, _:
            return escape(str(remark))
        case kind, (() | (int(),)) as counts:
            # The other texts have no variable, or only a count.
            return say.fill(f"remark_{kind.name.lower()}", dict(zip((COUNT,), counts, strict=False)))
        case _:
            return escape(str(remark))
