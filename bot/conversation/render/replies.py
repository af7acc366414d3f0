"""The short answers to commands, as Markdown without a marker. `render_reply` joins a comment's answers (C2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.conversation.commands.parser import COMMANDS_MAX, LIMIT_MAX, WORDS_MAX
from bot.conversation.commands.table import OPTIONS, CommandProblem, CommandSpec, InvalidCommand, MisspeltCommand
from bot.conversation.config.yaml_tree import ConfigError
from bot.conversation.marker import reply_marker
from bot.conversation.messages.catalogue import Messages
from bot.conversation.render.details import settings_block
from bot.conversation.render.escape import RepoLinks, break_phrase, code, escape
from bot.conversation.render.phrases import duration, who_words
from bot.domain.entities import BODY_MAX

_LIMITS = {
    CommandProblem.WORDS_TOO_LONG: WORDS_MAX,
    CommandProblem.OPTION_VALUE: LIMIT_MAX,
    CommandProblem.TOO_MANY: COMMANDS_MAX,
}


def render_reply(comment_id: int, answers: Sequence[tuple[str, str]], *, partial: bool = False) -> str:
    """The reply to new commands. `answers` has (command's line, answer). `partial`: the comment has older ones, too."""
    if len(answers) == 1 and not partial:
        text = answers[0][1]
    else:
        # Quote each command, to show which answer belongs to it.
        text = "\n\n".join(f"{code(line, 100)}\n\n{answer}" for line, answer in answers)
    body = f"{reply_marker(comment_id)}\n{break_phrase(text)}\n"
    # Cut at the end of a line, so that no sentence or title is cut.
    return body if len(body) <= BODY_MAX else body[: body.rindex("\n", 0, BODY_MAX) + 1]


@dataclass(frozen=True, slots=True)
class Replies:
    """The answers to commands on one issue, in the issue's language."""

    say: Messages
    links: RepoLinks

    def misspelt(self, found: MisspeltCommand) -> str:
        word = code(found.word, 60)
        if not found.suggestion:
            return self.say.misspelt_far(word=word)
        return self.say.misspelt(word=word, suggestion=code(found.suggestion))

    def invalid(self, found: InvalidCommand) -> str:
        values = {
            "value": code(found.value, 60),
            "syntax": code(found.spec.syntax),
            "most": _LIMITS.get(found.problem, 0),
            "examples": " ".join(code(option) for option in OPTIONS if "=" in option),
        }
        return self.say.fill(found.problem.name.lower(), values)

    def forbidden(self, spec: CommandSpec) -> str:
        return self.say.forbidden(command=code(spec.syntax), who=who_words(spec.who, self.say))

    def rate_limited(self, most: int, seconds: float) -> str:
        """The person sent more than `most` commands within `seconds`, and must wait for up to `seconds`."""
        return self.say.rate_limited(most=most, wait=duration(seconds, self.say))

    def noted_different(self, number: int, already: bool = False, repo: str = "") -> str:
        """The answer to `not`. `already`: the pair was rejected before. `repo` is OWNER/REPO of another repository."""
        issue = self.links.issue(number, repo)
        if already:
            return self.say.not_already(issue=issue)
        return self.say.not_elsewhere(issue=issue) if repo else self.say.not_done(issue=issue)

    def closed_for(self, asked: int, root: int, *, closed: bool = False) -> str:
        """The answer to `of #asked`. `root` is #asked's open original or #asked itself; `closed`: `root` is closed."""
        if closed:
            return self.say.of_done_closed(issue=self.links.issue(root))
        if asked == root:
            return self.say.of_done(issue=self.links.issue(root))
        return self.say.of_done_root(asked=self.links.issue(asked), issue=self.links.issue(root))

    def refused_root(self, asked: int, root: int, refused: str) -> str:
        """Refuse `of #asked` with `refused`, a text on `root`. If `root` is not #asked, say that #asked leads there."""
        if asked == root:
            return refused
        return self.say.of_leads(asked=self.links.issue(asked), issue=self.links.issue(root), says=refused)

    def undone_not(self, number: int, holds: bool = False, repo: str = "") -> str:
        """`undo` after `not`; `holds`: another person's `not` still holds."""
        issue = self.links.issue(number, repo)
        return self.say.undo_not_holds(issue=issue) if holds else self.say.undo_not(issue=issue)

    def undone_of(self, number: int, reopened: bool = True) -> str:
        """`undo` after `of`; `reopened`: the issue is open again."""
        issue = self.links.issue(number)
        return self.say.undo_of(issue=issue) if reopened else self.say.undo_of_closed(issue=issue)

    def scan_begun(self, count: int, seconds: float, title: str, known: int | None) -> str:
        """The answer to `scan`: in `seconds` the bot edits issue `known`; if None, it opens an issue named `title`."""
        wait = duration(seconds, self.say)
        if known is None:
            return self.say.scan_begun(count=count, wait=wait, title=escape(title))
        return self.say.scan_begun_known(count=count, wait=wait, issue=self.links.issue(known))

    def scan_not_ready(self, seen: int | None, expected: int | None) -> str:
        """`scan` before all issues were read; `seen` is None if reading has not begun."""
        if seen is None:
            return self.say.scan_not_begun()
        return self.say.scan_not_ready(
            seen=seen, expected="?" if expected is None else self.say.locale.number(expected)
        )

    def github_refused(self, detail: str) -> str:
        """GitHub refused with the message `detail`, and a retry would not help. The answer says what to do."""
        return self.say.github_refused(detail=escape(detail).rstrip("."))

    def settings_problems(self, problems: Sequence[ConfigError], source: str, private: bool = False) -> str:
        """The errors in the settings file at `source`, or only their number if the file is `private`."""
        return settings_block(self.say.settings_intro(source=code(source)), problems, private, self.say)
