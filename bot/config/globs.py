"""Title patterns: `*` stands for any text, `?` for one character, everything else for itself, without case.

Square brackets have no meaning of their own: titles that begin with `[Bug]` are common, and a character class is
not what the maintainer who writes `[Bug]*` wants. Regular expressions are not offered at all, since one unlucky
expression could keep a worker busy for hours.
"""

from __future__ import annotations

import re
from functools import lru_cache

# GitHub's titles have at most 256 characters; a longer text is compared by its beginning.
_TITLE_MAX = 1_000


def glob_matches(glob: str, title: str) -> bool:
    """Whether the whole title fits the glob.

    The pieces between the stars have a fixed length each, so the leftmost place of every piece is always a right one
    and nothing has to be tried twice: the time is at most length of the glob × length of the title.
    """
    title = title[:_TITLE_MAX].lower().strip()
    first, *rest = _pieces(glob)
    start = first.match(title)
    if start is None:
        return False
    if not rest:
        return start.end() == len(title)
    *middle, last = rest
    at = start.end()
    for piece in middle:
        found = piece.search(title, at)
        if found is None:
            return False
        at = found.end()
    # Every piece matches as many characters as it has in the pattern, so the last one can only begin here.
    begin = len(title) - _width(last)
    return begin >= at and last.match(title, begin) is not None


@lru_cache(maxsize=1_024)
def _pieces(glob: str) -> tuple[re.Pattern[str], ...]:
    """The parts between the stars, each a pattern of fixed length without repetition."""
    return tuple(
        re.compile("".join("." if char == "?" else re.escape(char) for char in piece), re.DOTALL)
        for piece in glob.lower().strip().split("*")
    )


def _width(piece: re.Pattern[str]) -> int:
    """How many characters a piece stands for: an escaped character is written as two."""
    return len(re.sub(r"\\(.)", r"\1", piece.pattern, flags=re.DOTALL))
