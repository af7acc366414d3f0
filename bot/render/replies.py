"""The short replies to commands, one function each; they answer Markdown without a marker.

`render_reply` puts the answers to all commands of one comment into the one reply that this comment gets (C2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from bot.commands import COMMANDS, COMMANDS_LIMIT, LIMIT_SECONDS, OPTIONS, Invalid, Misspelt, Problem, Requirement, Row
from bot.commands.parse import COMMANDS_MAX, WORDS_MAX
from bot.config import ConfigError
from bot.render.comment import COMMENT_MAX
from bot.render.details import bullets, private_settings, settings_list
from bot.render.escape import break_phrase, code, escape
from bot.render.links import Place
from bot.render.marker import reply_marker
from bot.render.phrases import ENGLISH as SAY


def render_reply(comment_id: int, answers: Sequence[tuple[str, str]], *, partial: bool = False) -> str:
    """The reply to a comment: pairs of the command's line as it was written and the answer to it.

    Where there are several, or the comment holds further ones (`partial`), each answer follows its command.
    """
    if len(answers) == 1 and not partial:
        text = answers[0][1]
    else:
        text = "\n\n".join(f"{code(line, 100)}\n\n{answer}" for line, answer in answers)
    return f"{reply_marker(comment_id)}\n{break_phrase(text)}\n"[:COMMENT_MAX]


def help_text() -> str:
    """The answer to `help`."""
    return f"{SAY.help_intro}\n\n{commands_list()}"


def commands_list() -> str:
    """What can be written, what it does, and who may: for the answer to `help` and for docs/commands.md."""
    commands = []
    for row in COMMANDS:
        line = SAY.help_line if row.who is Requirement.ANYONE else SAY.help_line_for
        commands.append(line.format(command=code(row.syntax), says=row.says, who=who_words(row.who)))
    options = [SAY.help_option.format(option=code(option), says=says) for option, says in OPTIONS]
    limit = SAY.help_limit.format(most=COMMANDS_LIMIT, wait=duration(LIMIT_SECONDS))
    return "\n\n".join([bullets(commands), SAY.help_options, bullets(options), limit])


def duration(seconds: float) -> str:
    """Seconds as people say them, in the plural."""
    if seconds <= 90:
        # Two at least: nobody types faster, and the sentence needs no singular.
        return SAY.seconds.format(count=max(2, math.ceil(seconds)))
    return SAY.minutes.format(count=round(seconds / 60))


def who_words(who: Requirement) -> str:
    """A requirement in words."""
    return {
        Requirement.ANYONE: SAY.who_anyone,
        Requirement.AUTHOR_OR_TRIAGE: SAY.who_author_or_triage,
        Requirement.TRIAGE: SAY.who_triage,
        Requirement.MAINTAIN: SAY.who_maintain,
    }[who]


def misspelt(found: Misspelt) -> str:
    """Not a command of ours; the nearest one where one is near (C4)."""
    word = code(found.word, 60)
    if not found.suggestion:
        return SAY.misspelt_far.format(word=word)
    return SAY.misspelt.format(word=word, suggestion=code(found.suggestion))


def invalid(found: Invalid) -> str:
    """A known command that cannot be carried out as it is written, and how to write it."""
    value, syntax = code(found.value, 60), code(found.row.syntax)
    texts = {
        Problem.NUMBER_MISSING: SAY.number_missing,
        Problem.NUMBER_UNREADABLE: SAY.number_unreadable,
        Problem.OTHER_REPOSITORY: SAY.other_repository,
        Problem.WORDS_MISSING: SAY.words_missing,
        Problem.WORDS_TOO_LONG: SAY.words_too_long,
        Problem.OPTION_VALUE: SAY.option_value,
        Problem.TOO_MUCH: SAY.too_much,
        Problem.TOO_MANY: SAY.too_many,
    }
    most = COMMANDS_MAX if found.problem is Problem.TOO_MANY else WORDS_MAX
    examples = " ".join(code(option) for option, _ in OPTIONS if "=" in option)
    return texts[found.problem].format(value=value, syntax=syntax, most=most, examples=examples)


def forbidden(row: Row) -> str:
    """The one who asked may not use this command (C5)."""
    return SAY.forbidden.format(command=code(row.syntax), who=who_words(row.who))


def rate_limited(most: int, seconds: float) -> str:
    """Somebody asks too often: more than `most` commands within so many seconds, after which they may again."""
    return SAY.rate_limited.format(most=most, wait=duration(seconds))


def noted_different(place: Place, number: int, already: bool = False) -> str:
    """The answer to `not`."""
    return (SAY.not_already if already else SAY.not_done).format(issue=place.issue(number))


def closed_for(place: Place, asked: int, root: int) -> str:
    """The answer to `of`: `asked` is the number that was given, `root` the oldest open issue of its chain."""
    if asked == root:
        return SAY.of_done.format(issue=place.issue(root))
    return SAY.of_done_root.format(asked=place.issue(asked), issue=place.issue(root))


def closed_already(place: Place, number: int) -> str:
    """`of` for an issue that is closed in favour of that one already."""
    return SAY.of_already.format(issue=place.issue(number))


def refused_itself() -> str:
    """A command with the issue's own number."""
    return SAY.itself


def refused_newer(place: Place, number: int) -> str:
    """`of` with an issue that was opened later."""
    return SAY.of_newer.format(issue=place.issue(number))


def refused_closed(place: Place, number: int) -> str:
    """`of` with an issue that is closed, and not in favour of another one."""
    return SAY.of_closed.format(issue=place.issue(number))


def refused_unseen(place: Place, number: int) -> str:
    """`of` with an issue that is closed in favour of one that is out of sight, or of itself in the end."""
    return SAY.of_root_unseen.format(issue=place.issue(number))


def refused_circle(place: Place, number: int) -> str:
    """`of` with an issue whose chain leads back here."""
    return SAY.of_circle.format(issue=place.issue(number))


def undone_not(place: Place, number: int) -> str:
    """`undo` after `not`."""
    return SAY.undo_not.format(issue=place.issue(number))


def undone_of(place: Place, number: int, reopened: bool = True) -> str:
    """`undo` after `of`; `reopened` is whether the issue is open now, as it was before unless it had been closed."""
    return (SAY.undo_of if reopened else SAY.undo_of_closed).format(issue=place.issue(number))


def nothing_to_undo() -> str:
    """`undo` without anything that the one who asked could take back."""
    return SAY.undo_nothing


def muted(already: bool = False) -> str:
    """The answer to `mute`."""
    return SAY.muted_already if already else SAY.muted


def muted_recheck() -> str:
    """The answer to a re-check of an issue that is muted: the comment alone would not say so."""
    return SAY.muted_recheck


def unmuted(already: bool = False) -> str:
    """The answer to `unmute`; `already` where the issue was not muted."""
    return SAY.unmuted_already if already else SAY.unmuted


def comment_was_deleted() -> str:
    """A re-check where a maintainer deleted the advisory comment (C1)."""
    return SAY.comment_deleted


def scan_begun(place: Place, count: int, seconds: float, title: str, known: int | None) -> str:
    """The answer to `scan`: so many issues, in about so many seconds; `known` is the issue of an earlier one."""
    if known is None:
        return SAY.scan_begun.format(count=f"{count:,}", wait=duration(seconds), title=title)
    return SAY.scan_begun_known.format(count=f"{count:,}", wait=duration(seconds), issue=place.issue(known))


def scan_not_ready(seen: int | None, expected: int | None) -> str:
    """`scan` before all issues were read; `seen` is None where nobody has begun."""
    if seen is None:
        return SAY.scan_not_begun
    return SAY.scan_not_ready.format(seen=f"{seen:,}", expected="?" if expected is None else f"{expected:,}")


def no_such_issue(place: Place, number: int) -> str:
    """A number that names nothing here."""
    return SAY.issue_gone.format(issue=place.issue(number))


def not_an_issue(place: Place, number: int) -> str:
    """A number that names a pull request."""
    return SAY.not_an_issue.format(issue=place.issue(number))


def github_refused(detail: str) -> str:
    """GitHub refused for good; `detail` is its own message. Says how to mend it."""
    return SAY.github_refused.format(detail=escape(detail).rstrip("."))


def settings_problems(problems: Sequence[ConfigError], source: str, private: bool = False) -> str:
    """What is wrong with a settings file; `source` names where it lies. Of a `private` one only the number is told."""
    if private:
        return private_settings(problems)
    return f"{SAY.settings_intro.format(source=code(source))}\n\n{settings_list(problems)}"
