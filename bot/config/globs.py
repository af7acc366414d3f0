"""Title patterns: `*` stands for any text, `?` for one character, everything else for itself, without case.

Square brackets have no meaning of their own: titles that begin with `[Bug]` are common, and a character class is
not what the maintainer who writes `[Bug]*` wants. Regular expressions are not offered at all, since one unlucky
expression could keep a worker busy for hours.
"""

from __future__ import annotations

import fnmatch
import re
from functools import lru_cache

# GitHub's titles have at most 256 characters; a longer text is compared by its beginning.
_TITLE_MAX = 1_000


def glob_matches(glob: str, title: str) -> bool:
    """Whether the whole title fits the glob. The standard library's pattern tries no star twice."""
    return _pattern(glob.lower().strip()).match(title[:_TITLE_MAX].lower().strip()) is not None


@lru_cache(maxsize=1_024)
def _pattern(glob: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(glob.replace("[", "[[]")))
