"""Whether a sentence denies that the issue is a duplicate, or only something else beside it. Pure.

"This is not a duplicate of #7" denies it; "This does not work any more, duplicate of #7" says it.
"""

from __future__ import annotations

import re

# Where a new clause begins: not before what goes on with the old one ("not a duplicate of #5, or of #7"), and at "and"
# or "so" only before what has a verb or a subject of its own.
_CLAUSE = re.compile(
    r"(?:[,;:()–—]|\s-{1,2}\s)(?!\s{0,3}(?:or|nor|which|that|whose|who)\b)"
    r"|\bbut\b"
    r"|\b(?:and|so|because|since|therefore|hence|thus)\b"
    r"(?=\s{1,3}(?:this|it|that['’]s|is|was|I|we|clos\w*|mark\w*)\b)",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:not|cannot|never|isn'?t|wasn'?t|unlike|nor)\b|n['’]t\b", re.IGNORECASE)
# These deny what follows at once, and nothing else.
_NO = re.compile(
    r"\b(?:no(?:\s+longer)?|neither|hardly|nearly|almost)(?:\s+an?)?(?:\s+(?:exact|real|true))?\s*\Z", re.IGNORECASE
)
# With these alone a clause is not over: "this is not, as far as I see, a duplicate", "I do not think, honestly, that".
_LEFT_OPEN = re.compile(
    r"(?:\s|['’](?:s|re|m)\b|\b(?:think|believe|feel|see|say|call|consider|find|agree|know|understand|get|that|this|it|he"
    r"|she|they|you|one|issue|is|was|are|were|be|been|being|have|has|had|an?|the|really|actually|exactly|quite|just"
    r"|simply|necessarily|strictly|even|yet|to|as|of|how|why|close|closed|mark|marked)\b)*",
    re.IGNORECASE,
)
# To be not the same is to be no duplicate, unless it is said of one issue and the claim of another.
_SAMENESS = re.compile(r"\b(?:same|dup\w*|identical|related|equal|match\w*)\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?:#|GH-|/(?:issues|pull)/|\bissue\s+)\d", re.IGNORECASE)


def denied(before: str) -> bool:
    """Whether what stands in a sentence before "a duplicate" denies that, given its last few words."""
    if _NO.search(before):
        return True
    *others, own = _CLAUSE.split(before)
    return _NOT.search(own) is not None or any(_reaches_on(clause) for clause in others)


def _reaches_on(clause: str) -> bool:
    """Whether a clause holds a denial that is about what comes after it."""
    found = list(_NOT.finditer(clause))
    if not found:
        return False
    after = clause[found[-1].end() :]
    same_as_none = _SAMENESS.search(after) is not None and not _NUMBER.search(after)
    return same_as_none or _LEFT_OPEN.fullmatch(after) is not None
