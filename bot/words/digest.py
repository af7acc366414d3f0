"""The texts of the digest, and of the bar that feedback has moved."""

from __future__ import annotations

from datetime import date

from bot.words.texts import Texts, text


class DigestTexts(Texts):
    """The digest of a week."""

    @text
    def bar_moved(self, bar: float, usual: float) -> None:
        """In the comment: from which probability on issues are named, and from which usually."""

    @text
    def bar_usual(self, bar: float) -> None:
        """From which probability on issues are named: nobody has said otherwise."""

    @text
    def bar_settings(self, bar: float) -> None:
        """The same, as the settings say."""

    @text
    def bar_feedback(self, bar: float, right: str, wrong: str) -> None:
        """The same, as feedback has moved it; the weights are of what was said for and against."""

    @text
    def digest_title(self) -> None:
        """The title of the one issue with the digest."""

    @text
    def digest_looked(self, since: date, until: date, issues: str, new: int) -> None:
        """How many issues the bot looked at between two days."""

    @text
    def digest_commented(self, count: int) -> None:
        """On how many it commented."""

    @text
    def digest_would(self, count: int) -> None:
        """On how many it would have commented (`mode: shadow`)."""

    @text
    def digest_so_far(self, parts: str) -> None:
        """What people have said of these comments; the parts are the next four."""

    @text
    def digest_right(self, count: int) -> None:
        """So many were right."""

    @text
    def digest_wrong(self, count: int) -> None:
        """So many were wrong."""

    @text
    def digest_disputed(self, count: int) -> None:
        """Of so many people say both."""

    @text
    def digest_unknown(self, count: int) -> None:
        """Of so many nobody has said anything."""

    @text
    def digest_missed(self, count: int) -> None:
        """How many were reported before, as people say, without a comment."""

    @text
    def digest_how(self) -> None:
        """What the boxes are for, and how to be rid of the issue."""

    @text
    def digest_named(self, issue: str, percent: float, standing: str) -> None:
        """Below an issue: which earlier one the comment named first, and what people say."""

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
        """Of one comment people say that it was right."""

    @text
    def standing_wrong(self) -> None:
        """Of one comment people say that it was wrong."""

    @text
    def standing_disputed(self) -> None:
        """Of one comment people say both."""

    @text
    def standing_unknown(self) -> None:
        """Of one comment nobody has said anything."""

    @text
    def standing_by(self, standing: str, how: str) -> None:
        """What people say, and how they have said it."""

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
        """By how they have closed the issue."""

    @text
    def said_retitled(self) -> None:
        """By the title that they have given it since."""
