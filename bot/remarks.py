"""What the bot itself says of an asking that did not go as it should, told from what GitHub or a server said."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache


class Remark(StrEnum):
    """The sentences, in English; `{:d}` is a number, `{}` what GitHub said. Comments say them in their language."""

    NOT_FOUND = "{:d} not found"
    LEFT = "{:d} more are considered when the index is ready"
    NOT_FOUND_AND_LEFT = f"{NOT_FOUND}, {LEFT}"
    BY_WORDS = "searched by words only: {}"
    UNREAD = "whether the repositories are public could not be read"
    HIDDEN = "a repository is public no more"
    LEFT_OUT = "{:d} of {:d} left out: not a public repository of this owner, nor allowed by the host"
    NO_PERMISSION = "the App lacks the permission to read discussions"
    EMPTY = "GitHub's answer is empty"
    SEARCH_LIMIT = "GitHub's rate limit for searches is used up for now"
    HYBRID_LIMIT = "GitHub's rate limit for searches by meaning is used up for now"
    TOO_LATE = "no answer within {:d} seconds"
    FAILED = "failed unexpectedly; the log has the details"

    def of(self, *values: int | str) -> str:
        """The sentence with its gaps filled."""
        return self.value.format(*values)


def recognise(sentence: str) -> tuple[Remark | None, tuple[str, ...]]:
    """Which of the bot's own sentences it is, and what stands in its gaps; None where others have said it."""
    for remark in Remark:
        if found := _pattern(remark).fullmatch(sentence):
            return remark, found.groups()
    return None, ()


@cache
def _pattern(remark: Remark) -> re.Pattern[str]:
    text = re.escape(remark.value).replace(re.escape("{:d}"), "([0-9]+)").replace(re.escape("{}"), "(.+)")
    return re.compile(text, re.DOTALL)
