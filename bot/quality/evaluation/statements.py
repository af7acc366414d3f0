"""Finds out whether a comment calls its issue a duplicate. Pure.

`history.py` uses this module to read a repository's past comments, for an evaluation.

GitHub itself understands only `Duplicate of #12` at the beginning of a comment by somebody with write access, but
people word the statement in many ways. "This is not a duplicate of #7" denies the statement, while "This does not work
any more, duplicate of #7" makes it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.entities import RepoRef, name_key

# A "not" or "maybe" counts if it stands within this many characters before a claim.
_CONTEXT = 120
#: The version of the history files. If a file has another version, the history is read from GitHub again. Raise the
#: version whenever this module starts to understand more statements.
HISTORY_VERSION = 7


class StatementKind(StrEnum):
    """`SAYS` means a duplicate, `HINTS` a possible duplicate. `MARKS` and `UNMARKS` are GitHub's own events."""

    SAYS = "says"
    HINTS = "hints"
    MARKS = "marks"
    UNMARKS = "unmarks"


@dataclass(frozen=True, slots=True)
class Statement:
    """`of` is the original's number; None if the original is not visible or belongs to another repository.

    `at` is the statement's time. `by` may have the login of a hint's author. If the author turns out to have been a
    member, the hint counts like `SAYS`.
    """

    kind: StatementKind
    of: int | None
    at: str
    by: str = ""


# Code, quotations, HTML comments and struck-out text are not statements of the commenter. Three backticks followed by
# another backtick in the same line begin a code span, not a fence ("GitHub Flavored Markdown Spec", 4.5).
_INVISIBLE_OR_QUOTED = re.compile(
    r"^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,}).*?(?:^ {0,3}\1|\Z)|`[^`\n]*`|^ {0,3}>.*?$|<!--.*?(?:-->|\Z)|~~[^~\n]+~~",
    re.MULTILINE | re.DOTALL,
)
# A repository's name, within GitHub's limits: without them, matching a long line of hyphens takes quadratic time.
_REPO = r"[\w-]{1,39}/[\w.-]{1,100}"
# A reference: `#7`, `GH-7`, `owner/name#7`, or the address of an issue or pull request.
_ISSUE = (
    rf"[\[(<]?(?:(?P<prefix>{_REPO})?(?:#|GH-)|https?://[^\s/]+/(?P<path>{_REPO})/(?:issues|pull)/)"
    r"(?P<number>[1-9]\d{0,8})\b"
)
_REFERENCE = re.compile(rf"(?<![\w/]){_ISSUE}", re.IGNORECASE)
# A claim: "duplicate of #7", "dupe: #7", "in favour of #7", "same bug as #7", "already reported in #7". But a
# "near-duplicate" or "semi-duplicate" is not a duplicate. A number without `#` counts only after "of issue" or "to
# issue": "duplicate issue 2 times" names no issue. Even there, the numbers in 7.1, 100 % or 2024-05-01 do not count.
_CLAIM = re.compile(
    r"\b(?<!\bnear[ -])(?<!\bsemi[ -])(?<!\bhalf[ -])(?<!\bnon[ -])"
    r"(?:(?:duplicates?|dup(?:e|li)?s?):?(?:\s+(?:of|to))?|(?P<favor>in\s+favou?r\s+of)"
    r"|(?P<same>same(?:\s+(?:issue|bug|problem|thing))?\s+as|already\s+(?:reported|filed)(?:\s+(?:in|as|at|under))?))"
    rf"\s+(?:(?:(?:the\s+)?(?:issue|bug|report)\s+)?{_ISSUE}"
    r"|(?<=\b(?:of|to)\s)(?:the\s+)?issue\s+(?P<without_sign>[1-9]\d{0,8})\b(?!\s?%|[.,/-]\d))",
    re.IGNORECASE,
)
# A claim without a reference, as in "so closing as a duplicate". "A duplicate key" is no such claim.
_CALLED_DUPLICATE = re.compile(
    r"\b(?:as|an?|is|another|known)\s+(?:duplicate|dupe?)\b(?=\s*(?:[.,;:!)(-]|\Z|\n|(?:of|and|but|so|then|thanks)\b))",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?\n]")
# "#11 is a duplicate of #7" is about #11. But "this" or "it" after "is" means the comment's issue.
_OF_ANOTHER = re.compile(
    r"(?:#|GH-|/(?:issues|pull)/|\bissue\s+)\d+\s+(?:is|was|are|were|(?:has|had|have)\s+been)"
    r"\s+(?:(?!this\b|it\b)\w+\s+){0,4}\Z",
    re.IGNORECASE,
)
# "In favor of #7" counts only in a closing comment or after "close". Elsewhere people may only say that they prefer #7.
_CLOSED = re.compile(r"\bclos", re.IGNORECASE)
# "Same as #7" counts only in a closing comment, and not if the issue was fixed in the same way as #7.
_DONE = re.compile(r"\b(?:fix|sol[uv]|resol|merg|implement|done)", re.IGNORECASE)
_DOUBTED = re.compile(
    r"\b(?:may|might|could|would|maybe|perhaps|possibl[ey]|potential(?:ly)?|probabl[ey]|likely|seems?|looks?|think"
    r"|guess|suspect|wonder|if|or|related|similar|partial(?:ly)?|unsure|(?:not|n['’]t)\s+(?:\w+\s+){0,2}(?:sure|certain))\b",
    re.IGNORECASE,
)
# Some people close an issue with a bare reference. A bare reference is only a hint (see docs/research/accuracy.md).
_BARE = re.compile(rf"(?:see(?:\s{{1,3}}also)?:?\s{{1,3}})?(?:issue\s{{1,3}})?{_ISSUE}[\])>]?[.!]?", re.IGNORECASE)


def read_comment(
    text: str, repo: RepoRef, at: str, *, by_member: bool, by: str = "", closing: bool = False
) -> Statement | None:
    """The comment's statement about its issue; None if the comment makes no statement, or only denies one.

    Guesses are hints. Plain statements by non-members are hints, too, and keep the login `by`. A denied claim does not
    count. The first claim that counts decides. In a comment that closes the issue (`closing`), every claim is certain,
    even a guess. There, a bare reference is a hint, and "duplicate" alone means the only issue that is named.
    """
    visible = _INVISIBLE_OR_QUOTED.sub(" ", text)
    dismissed_claim = False
    for claim in _CLAIM.finditer(visible):
        before = _sentence_before(visible, claim.start())
        if denied(before) or _OF_ANOTHER.search(before):
            dismissed_claim = True
            continue
        if claim["favor"] and not (closing or _CLOSED.search(before)):
            continue
        if claim["same"] and (not closing or _DONE.search(before)):
            continue
        end = _SENTENCE_END.search(visible, claim.end())
        unsure = _DOUBTED.search(before) or (end and end[0] == "?")
        if closing or (by_member and not unsure):
            return _statement(StatementKind.SAYS, claim, repo, at)
        return _statement(StatementKind.HINTS, claim, repo, at, "" if unsure else by)
    return _closing_statement(visible, repo, at) if closing and not dismissed_claim else None


def _closing_statement(visible: str, repo: RepoRef, at: str) -> Statement | None:
    """The statement of a comment that closes its issue but contains no claim that counts."""
    if bare := _BARE.fullmatch(visible.strip()):
        return _statement(StatementKind.HINTS, bare, repo, at)
    called = _CALLED_DUPLICATE.search(visible)
    if called is None or denied(_sentence_before(visible, called.start())):
        return None
    named = {_statement(StatementKind.SAYS, one, repo, at) for one in _REFERENCE.finditer(visible)}
    return named.pop() if len(named) == 1 else None


def _sentence_before(text: str, position: int) -> str:
    return _SENTENCE_END.split(text[max(0, position - _CONTEXT) : position])[-1]


def _statement(kind: StatementKind, issue: re.Match[str], repo: RepoRef, at: str, by: str = "") -> Statement:
    groups = issue.groupdict()
    name = groups["prefix"] or groups["path"]
    number = int(groups["number"] or groups["without_sign"])  # only _CLAIM has `without_sign`
    is_here = name is None or name_key(name) == repo.key
    return Statement(kind, number if is_here else None, at, by)


# The beginning of a new clause. A word such as "or" continues the old clause ("not a duplicate of #5, or of #7"). Words
# such as "and" or "so" begin a new clause only if a subject or a verb follows.
_CLAUSE = re.compile(
    r"(?:[,;:()–—]|\s-{1,2}\s)(?!\s{0,3}(?:or|nor|which|that|whose|who)\b)"
    r"|\bbut\b"
    r"|\b(?:and|so|because|since|therefore|hence|thus)\b"
    r"(?=\s{1,3}(?:this|it|that['’]s|is|was|I|we|clos\w*|mark\w*)\b)",
    re.IGNORECASE,
)
_DENIES_CLAUSE = re.compile(r"\b(?:not|cannot|never|isn'?t|wasn'?t|unlike|nor)\b|n['’]t\b", re.IGNORECASE)
_DENIES_NEXT_WORDS = re.compile(
    r"\b(?:no(?:\s+longer)?|neither|hardly|nearly|almost)(?:\s+an?)?(?:\s+(?:exact|real|true))?\s*\Z", re.IGNORECASE
)


def denied(before: str) -> bool:
    """Whether `before`, a sentence up to a claim, denies the claim."""
    return bool(_DENIES_NEXT_WORDS.search(before) or _DENIES_CLAUSE.search(_CLAUSE.split(before)[-1]))
