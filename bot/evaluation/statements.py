"""What a comment says of an issue being a duplicate. Pure.

GitHub itself understands `Duplicate of #12` at the beginning of a comment by somebody who can write to the repository
("Marking issues or pull requests as a duplicate"); people say it in more ways.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from bot.model import RepoRef

# Characters before a claim in which a "not" or "maybe" may stand.
_CONTEXT = 120


class Kind(StrEnum):
    """`SAYS`: it is one. `HINTS`: it may be one. `MARKS` and `UNMARKS`: GitHub's own events."""

    SAYS = "says"
    HINTS = "hints"
    MARKS = "marks"
    UNMARKS = "unmarks"


@dataclass(frozen=True, slots=True)
class Statement:
    """`of` is the original's number in the same repository; None for one elsewhere, or out of sight."""

    kind: Kind
    of: int | None
    at: str


# Code and quotations are not what the commenter says.
_NOT_SAID = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1|\Z)|`[^`\n]*`|^ {0,3}>.*?$", re.MULTILINE | re.DOTALL)
_CLAIM = re.compile(
    r"\b(?:duplicates?|dup(?:e|li)?s?)\s+(?:of|to)\s+(?:(?:the\s+)?(?:issue|bug|report)\s+)?[\[(<]?"
    r"(?:(?P<here>[\w-]+/[\w.-]+)?(?:#|GH-)|https?://[^\s/]+/(?P<there>[\w-]+/[\w.-]+)/(?:issues|pull)/)"
    r"(?P<number>[1-9]\d{0,8})\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?\n]")
_DENIED = re.compile(r"\b(?:not|never|isn'?t|wasn'?t|unlike)\b|n['’]t\b", re.IGNORECASE)
_DOUBTED = re.compile(
    r"\b(?:may|might|could|would|maybe|perhaps|possibl[ey]|potential(?:ly)?|probabl[ey]|likely|seems?|looks?|think"
    r"|guess|suspect|wonder|if|or|related|similar|partial(?:ly)?)\b",
    re.IGNORECASE,
)


def read_comment(text: str, repo: RepoRef, at: str, *, by_member: bool) -> Statement | None:
    """What a comment says; None where it says nothing of the kind, or denies it.

    What others than members say, and what members only suppose, is a hint. Of several claims the first counts.
    """
    said = _NOT_SAID.sub(" ", text)
    for claim in _CLAIM.finditer(said):
        before = _SENTENCE_END.split(said[max(0, claim.start() - _CONTEXT) : claim.start()])[-1]
        if _DENIED.search(before):
            continue
        place = claim["here"] or claim["there"]
        same = place is None or place.lower() == str(repo).lower()
        end = _SENTENCE_END.search(said, claim.end())
        unsure = _DOUBTED.search(before) or (end and end[0] == "?")
        kind = Kind.SAYS if by_member and not unsure else Kind.HINTS
        return Statement(kind, int(claim["number"]) if same else None, at)
    return None
