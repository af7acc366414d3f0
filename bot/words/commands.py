"""The texts of the help, and of what a command can be answered."""

from __future__ import annotations

from bot.words.texts import Texts, text


class HelpTexts(Texts):
    """The help, and the commands below the comment."""

    @text
    def correct(self) -> None:
        """The heading over the commands that correct the comment."""

    @text
    def command(self, command: str, says: str) -> None:
        """One command or option, and what it does."""

    @text
    def command_anyone(self, command: str, says: str) -> None:
        """One command that is open to everybody, where each says for whom it is."""

    @text
    def command_for(self, command: str, says: str, who: str) -> None:
        """One command that is not open to everybody."""

    @text
    def help_intro(self) -> None:
        """The first line of the help."""

    @text
    def help_options(self) -> None:
        """The line over the options."""

    @text
    def help_limit(self, most: int, wait: str) -> None:
        """How many commands a person can give."""

    @text
    def seconds(self, count: int) -> None:
        """A time to wait."""

    @text
    def minutes(self, count: int) -> None:
        """A longer time to wait."""

    @text
    def who_anyone(self) -> None:
        """Who may: everybody. It follows "for", as the next three do."""

    @text
    def who_author_or_triage(self) -> None:
        """Who may: the author, and people with triage access."""

    @text
    def who_triage(self) -> None:
        """Who may: people with triage access."""

    @text
    def who_maintain(self) -> None:
        """Who may: maintainers."""

    @text
    def command_recheck(self) -> None:
        """What `/duplicates` does."""

    @text
    def command_search(self) -> None:
        """What `search` does."""

    @text
    def command_explain(self) -> None:
        """What `explain` does."""

    @text
    def command_not(self) -> None:
        """What `not` does."""

    @text
    def command_not_elsewhere(self) -> None:
        """What `not` does with an issue of another repository."""

    @text
    def command_of(self) -> None:
        """What `of` does."""

    @text
    def command_undo(self) -> None:
        """What `undo` does."""

    @text
    def command_mute(self) -> None:
        """What `mute` does."""

    @text
    def command_unmute(self) -> None:
        """What `unmute` does."""

    @text
    def command_scan(self) -> None:
        """What `scan` does."""

    @text
    def command_help(self) -> None:
        """What `help` does."""

    @text
    def option_open(self) -> None:
        """What the option `open` does."""

    @text
    def option_closed(self) -> None:
        """What `closed` does."""

    @text
    def option_all(self) -> None:
        """What `all` does."""

    @text
    def option_confidence(self) -> None:
        """What `confidence=` does."""

    @text
    def option_threshold(self) -> None:
        """What `threshold=` does."""

    @text
    def option_limit(self) -> None:
        """What `limit=` does."""

    @text
    def option_fresh(self) -> None:
        """What `fresh` does."""


class MistakeTexts(Texts):
    """Commands that cannot be carried out as they are written, or not by everybody."""

    @text
    def misspelt(self, word: str, suggestion: str) -> None:
        """Not a command; `suggestion` is the nearest."""

    @text
    def misspelt_far(self, word: str) -> None:
        """Not a command, and none is near."""

    @text
    def number_missing(self, syntax: str) -> None:
        """The issue number is missing."""

    @text
    def number_unreadable(self, value: str, syntax: str) -> None:
        """What was given is not an issue number."""

    @text
    def other_repository(self, value: str) -> None:
        """The issue that was given is in another repository."""

    @text
    def words_missing(self, syntax: str) -> None:
        """`search` without words."""

    @text
    def words_too_long(self, most: int) -> None:
        """`search` with too much text."""

    @text
    def option_value(self, value: str, most: int, examples: str) -> None:
        """An option whose value cannot be read, or is out of range; `most` is the highest `limit`."""

    @text
    def too_much(self, value: str, syntax: str) -> None:
        """A command with something after it that does not belong there."""

    @text
    def too_many(self, most: int) -> None:
        """A comment holds more commands than are carried out."""

    @text
    def forbidden(self, command: str, who: str) -> None:
        """The person who asked may not use this command."""

    @text
    def rate_limited(self, most: int, wait: str) -> None:
        """Somebody gives too many commands."""

    @text
    def github_refused(self, detail: str) -> None:
        """GitHub refused; `detail` is its own message, without the full stop."""

    @text
    def issue_gone(self, issue: str) -> None:
        """There is no issue with that number here (it may be a discussion)."""

    @text
    def not_an_issue(self, issue: str) -> None:
        """The number names a pull request."""


class AnswerTexts(Texts):
    """What commands are answered."""

    @text
    def not_done(self, issue: str) -> None:
        """`not` was noted."""

    @text
    def not_elsewhere(self, issue: str) -> None:
        """`not` was noted for an issue of another repository."""

    @text
    def not_shown_here(self, issue: str) -> None:
        """`not` with an issue of another repository that was not shown here."""

    @text
    def not_already(self, issue: str) -> None:
        """`not` had been given before."""

    @text
    def of_done(self, issue: str) -> None:
        """`of` has closed the issue."""

    @text
    def of_done_root(self, asked: str, issue: str) -> None:
        """`of` has closed it in favour of the original of the issue that was named."""

    @text
    def of_already(self, issue: str) -> None:
        """`of` had been given before."""

    @text
    def itself(self) -> None:
        """A command with the issue's own number."""

    @text
    def of_newer(self, issue: str) -> None:
        """`of` with a newer issue."""

    @text
    def of_closed(self, issue: str) -> None:
        """`of` with a closed issue."""

    @text
    def of_root_unseen(self, issue: str) -> None:
        """`of` with an issue whose own original cannot be seen."""

    @text
    def of_leads(self, asked: str, issue: str, says: str) -> None:
        """`of` with a duplicate of an issue that cannot be used; `says` is the answer about that one."""

    @text
    def of_circle(self, issue: str) -> None:
        """`of` with an issue that was closed in favour of this one."""

    @text
    def undo_not(self, issue: str) -> None:
        """`undo` has taken back a `not`."""

    @text
    def undo_not_holds(self, issue: str) -> None:
        """`undo` has taken back a `not` that somebody else gave as well."""

    @text
    def undo_of(self, issue: str) -> None:
        """`undo` has taken back an `of`, and the issue is open again."""

    @text
    def undo_of_closed(self, issue: str) -> None:
        """`undo` has taken back an `of`; the issue had been closed before."""

    @text
    def undo_nothing(self) -> None:
        """`undo` without anything to take back."""

    @text
    def muted(self) -> None:
        """`mute` was noted."""

    @text
    def muted_already(self) -> None:
        """`mute` had been given before."""

    @text
    def muted_recheck(self) -> None:
        """The comment of a muted issue was brought up to date."""

    @text
    def unmuted(self) -> None:
        """`unmute` was noted."""

    @text
    def unmuted_already(self) -> None:
        """`unmute` where nothing was muted."""

    @text
    def comment_deleted(self) -> None:
        """A maintainer deleted the comment, so it is not posted again."""

    @text
    def explain_heading(self, issue: str, title: str) -> None:
        """The first line of `explain`."""

    @text
    def explain_not_found(self) -> None:
        """No search found that issue."""

    @text
    def explain_no_reason(self) -> None:
        """The two have nothing telling in common."""

    @text
    def explain_confidence(self, confidence: str) -> None:
        """The probability that they are the same."""

    @text
    def explain_no_confidence(self) -> None:
        """There is no probability yet."""

    @text
    def explain_found_by(self, sources: str) -> None:
        """The sources that found that issue."""

    @text
    def explain_duplicate(self, issue: str, confidence: str, sources: str) -> None:
        """A duplicate of that issue that was found as well, and the sources that found it."""

    @text
    def explain_queries(self) -> None:
        """The line above the queries that found it."""
