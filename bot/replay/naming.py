"""Which earlier issues of a file an arrival names in its text: the bot does not tell anybody what they have written.

A file has ids of its own and does not say which repository it is from. So `#12` and the address of any issue 12 name
the issue whose id is 12, and the word `TIMOB-1` the one with that id.
"""

from __future__ import annotations

import re

from bot.model import BODY_MAX, IssueRef, RepoRef
from bot.replay.archive import PastIssue
from bot.text.naming import named_issues, without_code

_WORD = re.compile(r"\w[\w.-]{0,98}\w")


class Ids:
    """The numbers that the replay gave the issues of a file, by the file's ids."""

    def __init__(self, repo: RepoRef) -> None:
        self._repo = repo
        self._numbers: dict[str, int] = {}
        self._words = False

    def add(self, id: int | str, number: int) -> None:
        """An issue has arrived."""
        self._numbers[str(id)] = number
        self._words |= not str(id).isdecimal()

    def named(self, past: PastIssue) -> frozenset[str]:
        """Those that arrived before it and that its text names, as `FindOptions` takes them."""
        text = f"{past.title}\n{past.body}"
        ids = {key.rpartition("#")[2] for key in named_issues(text, self._repo)}
        if self._words:
            # "Exit code 137" is about no issue, whatever ids the others have.
            ids |= {word for word in _WORD.findall(without_code(text[:BODY_MAX])) if not word.isdecimal()}
        return frozenset(IssueRef(self._repo, self._numbers[id]).key for id in ids if id in self._numbers)
