"""The texts of the digest, and of the bar that feedback has moved."""

from __future__ import annotations

from datetime import date

from bot.words.texts import Texts, text


class DigestTexts(Texts):
    """The digest of a week."""

    @text
    def bar_moved(self, bar: float, usual: float) -> None:
        """In the comment: the probability from which issues are shown, and the usual one."""

    @text
    def bar_usual(self, bar: float) -> None:
        """The probability from which issues are shown, where nothing has changed it."""

    @text
    def bar_settings(self, bar: float) -> None:
        """The same where the settings say it."""

    @text
    def bar_feedback(self, bar: float, right: str, wrong: str) -> None:
        """The same where feedback has moved it, with the weights of what was said for and against."""

    @text
    def digest_title(self) -> None:
        """The title of the one issue with the digest."""

    @text
    def digest_looked(self, since: date, until: date, issues: str, new: int) -> None:
        """How many issues the bot looked at between two days."""

    @text
    def digest_commented(self, count: int) -> None:
        """How many it commented on."""

    @text
    def digest_would(self, count: int) -> None:
        """How many it would have commented on (`mode: shadow`)."""

    @text
    def digest_so_far(self, parts: str) -> None:
        """The feedback on these comments; the parts are the next four."""

    @text
    def digest_right(self, count: int) -> None:
        """That many were right."""

    @text
    def digest_wrong(self, count: int) -> None:
        """That many were wrong."""

    @text
    def digest_disputed(self, count: int) -> None:
        """On that many, people disagree."""

    @text
    def digest_unknown(self, count: int) -> None:
        """That many have no feedback yet."""

    @text
    def digest_missed(self, count: int) -> None:
        """How many the bot was silent on that had been reported before, as people say."""

    @text
    def digest_how(self) -> None:
        """What the boxes are for, and how to end the digest."""

    @text
    def digest_named(self, issue: str, percent: float, standing: str) -> None:
        """Below an issue: the first one in the comment, and what people say of it."""

    @text
    def digest_would_name(self, issue: str, percent: float, standing: str) -> None:
        """The same where nothing was posted."""

    @text
    def digest_more(self, count: int) -> None:
        """How many further issues there are."""

    @text
    def box_same(self) -> None:
        """The box for a pair that reports the same."""

    @text
    def box_other(self) -> None:
        """The box for a pair that does not."""

    @text
    def standing_right(self) -> None:
        """People say that a comment was right."""

    @text
    def standing_wrong(self) -> None:
        """People say that a comment was wrong."""

    @text
    def standing_disputed(self) -> None:
        """People disagree about a comment."""

    @text
    def standing_unknown(self) -> None:
        """A comment has no feedback yet."""

    @text
    def standing_by(self, standing: str, how: str) -> None:
        """What people say, and how they said it."""

    @text
    def said_reaction(self) -> None:
        """By a reaction to the comment."""

    @text
    def said_box(self) -> None:
        """By a box of this digest."""

    @text
    def said_vote(self) -> None:
        """By a button of the dashboard."""

    @text
    def said_closed(self) -> None:
        """By how they closed the issue."""

    @text
    def said_retitled(self) -> None:
        """By the title that they gave it since."""
