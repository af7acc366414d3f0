"""The texts of the backlog scan, and of the label that the bot suggests."""

from __future__ import annotations

from bot.words.texts import Texts, text


class ScanTexts(Texts):
    """The backlog scan."""

    @text
    def scan_title(self) -> None:
        """The title of the one issue that shows the result."""

    @text
    def scan_begun(self, count: int, wait: str, title: str) -> None:
        """`scan` has started; no earlier scan left an issue."""

    @text
    def scan_begun_known(self, count: int, wait: str, issue: str) -> None:
        """`scan` has started; its issue exists already."""

    @text
    def scan_not_ready(self, seen: int, expected: str) -> None:
        """`scan` was given before all issues were read."""

    @text
    def scan_not_begun(self) -> None:
        """`scan` was given before any issue was read."""

    @text
    def scan_found(self, groups: str, among: str, issues: str) -> None:
        """How much there is to gain."""

    @text
    def scan_nothing(self, among: str) -> None:
        """There is nothing to gain."""

    @text
    def among_open(self, count: int) -> None:
        """What was looked through: open issues. It follows "among"."""

    @text
    def among_all(self, count: int) -> None:
        """What was looked through: open and closed issues. It follows "among"."""

    @text
    def scan_how(self) -> None:
        """How to read the list."""

    @text
    def scan_sums(self, issues: str, up: int, down: int, comments: str) -> None:
        """All reactions and comments on the issues of a group."""

    @text
    def comments(self, count: int) -> None:
        """A number of comments."""

    @text
    def groups(self, count: int) -> None:
        """A number of groups."""

    @text
    def issues(self, count: int) -> None:
        """A number of issues."""

    @text
    def scan_left_out(self, groups: str, issues: str) -> None:
        """What did not fit into an issue."""


class LabelTexts(Texts):
    """The suggested label."""

    @text
    def label_rationale(self, percent: float, number: str) -> None:
        """Why the label is suggested; shown by GitHub as plain text, and without a link."""
