"""The short replies to commands, one method each; they answer Markdown without a marker.

`render_reply` puts the answers to all commands of one comment into the one reply that this comment gets (C2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.conversation.commands.parser import COMMANDS_MAX, LIMIT_MAX, WORDS_MAX
from bot.conversation.commands.table import OPTIONS, CommandProblem, CommandSpec, InvalidCommand, MisspeltCommand
from bot.conversation.config.yaml_tree import ConfigError
from bot.conversation.marker import reply_marker
from bot.conversation.messages.catalogue import Messages
from bot.conversation.render.details import private_settings, settings_list
from bot.conversation.render.escape import RepoLinks, break_phrase, code, escape
from bot.conversation.render.phrases import duration, who_words
from bot.domain.entities import BODY_MAX


def render_reply(comment_id: int, answers: Sequence[tuple[str, str]], *, partial: bool = False) -> str:
    """The reply to a comment: pairs of the command's line as it was written and the answer to it.

    Where there are several, or the comment holds further ones (`partial`), each answer follows its command.
    """
    if len(answers) == 1 and not partial:
        text = answers[0][1]
    else:
        text = "\n\n".join(f"{code(line, 100)}\n\n{answer}" for line, answer in answers)
    body = f"{reply_marker(comment_id)}\n{break_phrase(text)}\n"
    # Nothing that is cut between lines is cut in half: no text of ours or of strangers has more than one.
    return body if len(body) <= BODY_MAX else body[: body.rindex("\n", 0, BODY_MAX) + 1]


@dataclass(frozen=True, slots=True)
class Replies:
    """What commands in one place are answered, in the words of its language."""

    say: Messages
    place: RepoLinks

    def misspelt(self, found: MisspeltCommand) -> str:
        """Not a command of ours; the nearest one where one is near (C4)."""
        word = code(found.word, 60)
        if not found.suggestion:
            return self.say.misspelt_far(word=word)
        return self.say.misspelt(word=word, suggestion=code(found.suggestion))

    def invalid(self, found: InvalidCommand) -> str:
        """A known command that cannot be carried out as it is written, and how to write it."""
        say, value, syntax = self.say, code(found.value, 60), code(found.row.syntax)
        match found.problem:
            case CommandProblem.NUMBER_MISSING:
                return say.number_missing(syntax=syntax)
            case CommandProblem.NUMBER_UNREADABLE:
                return say.number_unreadable(value=value, syntax=syntax)
            case CommandProblem.OTHER_REPOSITORY:
                return say.other_repository(value=value)
            case CommandProblem.WORDS_MISSING:
                return say.words_missing(syntax=syntax)
            case CommandProblem.WORDS_TOO_LONG:
                return say.words_too_long(most=WORDS_MAX)
            case CommandProblem.OPTION_VALUE:
                examples = " ".join(code(one) for one in OPTIONS if "=" in one)
                return say.option_value(value=value, most=LIMIT_MAX, examples=examples)
            case CommandProblem.TOO_MUCH:
                return say.too_much(value=value, syntax=syntax)
            case CommandProblem.TOO_MANY:
                return say.too_many(most=COMMANDS_MAX)

    def forbidden(self, row: CommandSpec) -> str:
        """The one who asked may not use this command (C5)."""
        return self.say.forbidden(command=code(row.syntax), who=who_words(row.who, self.say))

    def rate_limited(self, most: int, seconds: float) -> str:
        """Somebody asks too often: more than `most` commands within so many seconds, after which they may again."""
        return self.say.rate_limited(most=most, wait=duration(seconds, self.say))

    def noted_different(self, number: int, already: bool = False, repo: str = "") -> str:
        """The answer to `not`; `repo` is OWNER/REPO where the issue lies elsewhere."""
        issue = self.place.issue(number, repo)
        if already:
            return self.say.not_already(issue=issue)
        return self.say.not_elsewhere(issue=issue) if repo else self.say.not_done(issue=issue)

    def closed_for(self, asked: int, root: int, *, closed: bool = False) -> str:
        """The answer to `of`: `asked` is the number that was given, `root` the open issue of its chain, or a `closed`
        one where there is none.
        """
        if closed:
            return self.say.of_done_closed(issue=self.place.issue(root))
        if asked == root:
            return self.say.of_done(issue=self.place.issue(root))
        return self.say.of_done_root(asked=self.place.issue(asked), issue=self.place.issue(root))

    def refused_root(self, asked: int, root: int, refused: str) -> str:
        """Why `of` is `refused`, after what leads from the number that was given to the issue of which that speaks."""
        if asked == root:
            return refused
        return self.say.of_leads(asked=self.place.issue(asked), issue=self.place.issue(root), says=refused)

    def undone_not(self, number: int, holds: bool = False, repo: str = "") -> str:
        """`undo` after `not`; `holds`: somebody else has said it too, and has not taken it back."""
        issue = self.place.issue(number, repo)
        return self.say.undo_not_holds(issue=issue) if holds else self.say.undo_not(issue=issue)

    def undone_of(self, number: int, reopened: bool = True) -> str:
        """`undo` after `of`; `reopened`: the issue is open now, as it was before unless it had been closed."""
        issue = self.place.issue(number)
        return self.say.undo_of(issue=issue) if reopened else self.say.undo_of_closed(issue=issue)

    def scan_begun(self, count: int, seconds: float, title: str, known: int | None) -> str:
        """The answer to `scan`: so many issues, in about so many seconds; `known` is the issue of an earlier one, and
        `title` what one will be called else.
        """
        wait = duration(seconds, self.say)
        if known is None:
            return self.say.scan_begun(count=count, wait=wait, title=escape(title))
        return self.say.scan_begun_known(count=count, wait=wait, issue=self.place.issue(known))

    def scan_not_ready(self, seen: int | None, expected: int | None) -> str:
        """`scan` before all issues were read; `seen` is None where nobody has begun."""
        if seen is None:
            return self.say.scan_not_begun()
        return self.say.scan_not_ready(
            seen=seen, expected="?" if expected is None else self.say.locale.number(expected)
        )

    def github_refused(self, detail: str) -> str:
        """GitHub refused for good; `detail` is its own message. Says how to mend it."""
        return self.say.github_refused(detail=escape(detail).rstrip("."))

    def settings_problems(self, problems: Sequence[ConfigError], source: str, private: bool = False) -> str:
        """What is wrong with a settings file; `source` says where it lies. Of a `private` one the number is told."""
        if private:
            return private_settings(problems, self.say)
        return f"{self.say.settings_intro(source=code(source))}\n\n{settings_list(problems, self.say)}"
