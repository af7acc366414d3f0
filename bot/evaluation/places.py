"""Whether an issue that is named by its number alone is said to be in another place than here. Pure.

"Duplicate of issue 7 in the other tracker" is about no issue 7 of this repository.
"""

from __future__ import annotations

import re

from bot.model import RepoRef, name_key

# Two words at most, and none of those that would make a sentence of it: "#7 in the way it clones the repo".
_WORD = (
    r"(?!(?:the|an?|of|in|on|at|it|its|is|to|and|or|how|way|when|where|which|that|cloned?|local|same)\b)[\w./-]{1,140}"
)
# Counted repetitions alone, so that no text takes longer than its length.
_IN_A_PLACE = re.compile(
    r"\]?[ \t]{0,3},?[ \t]{0,3}\(?(?:over[ \t]{1,3})?"
    r"(?:(?:in|on|at|of|from)[ \t]{1,3}(?:(?:the|an|your|their|its|that)[ \t]{1,3})?"
    rf"(?:(?P<words>(?:{_WORD}[ \t]{{1,3}}){{1,3}})(?:trackers?|repo|repository)"
    r"|(?:a[ \t]{1,3}(?:different|separate)[ \t]{1,3}(?:(?:issue|bug)[ \t]{1,3})?(?:tracker|repo|repository))"
    r"|(?:our[ \t]{1,3})?(?:bugzilla|launchpad|jira|gitlab|sourceforge|google[ \t]code|phabricator|trac))"
    r"|(?:up|down)stream)\b(?=\s{0,3}(?:[.,;:!?)\]–—-]|\Z|\n|(?:and|but|so|which|where|as|since|because|now|too|is|was)\b))",
    re.IGNORECASE,
)
# "In our own issue tracker" is here.
_HERE = frozenset({"this", "our", "own", "very", "issue", "bug", "github", "present", "current", "main"})


def elsewhere(text: str, position: int, repo: RepoRef) -> bool:
    """Whether what follows a number in a text, from a position on, says that it is one of another place."""
    found = _IN_A_PLACE.match(text, position)
    if found is None:
        return False
    words = (found["words"] or "").lower().split()
    return not words or not set(words) <= _HERE | {name_key(repo.name), repo.key}
