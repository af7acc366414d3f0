"""Finds out whether a comment calls its issue a duplicate. Pure.

GitHub itself understands only `Duplicate of #12` at the beginning of a comment by somebody with write access, but
people word the statement in many ways. "This is not a duplicate of #7" denies the statement, while "This does not work
any more, duplicate of #7" makes it. "Duplicate of issue 7 in the other tracker" is about another repository.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.entities import RepoRef, name_key

# A "not" or "maybe" counts if it stands within this many characters before a claim.
_CONTEXT = 120
#: The version of the history files. A file of another version is read from GitHub again. Raise the version whenever
#: this module starts to understand more statements.
READING = 7


class StatementKind(StrEnum):
    """`SAYS` means a duplicate, `HINTS` a possible duplicate. `MARKS` and `UNMARKS` are GitHub's own events."""

    SAYS = "says"
    HINTS = "hints"
    MARKS = "marks"
    UNMARKS = "unmarks"


@dataclass(frozen=True, slots=True)
class Statement:
    """`of` is the original's number; None if the original is not visible or belongs to another repository.

    `by` is the login of a person whose statement is plain but who is not a member today: if that person turns out to
    have been a member, the statement counts like `SAYS`.
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
# GitHub's own limits. Without a limit, matching a long line of hyphens would take quadratic time.
_PLACE = r"[\w-]{1,39}/[\w.-]{1,100}"
_ISSUE = (
    rf"[\[(<]?(?:(?P<here>{_PLACE})?(?:#|GH-)|https?://[^\s/]+/(?P<there>{_PLACE})/(?:issues|pull)/)"
    r"(?P<number>[1-9]\d{0,8})\b"
)
_REFERENCE = re.compile(rf"(?<![\w/]){_ISSUE}", re.IGNORECASE)
# A "near-duplicate" or "semi-duplicate" is not a duplicate. A number without `#` counts only in "of issue 7":
# "duplicate issue 2 times" names no issue, and neither do 7.1, 100 % or 2024-05-01.
_CLAIM = re.compile(
    r"\b(?<!\bnear[ -])(?<!\bsemi[ -])(?<!\bhalf[ -])(?<!\bnon[ -])"
    r"(?:(?:duplicates?|dup(?:e|li)?s?):?(?:\s+(?:of|to))?|(?P<favor>in\s+favou?r\s+of)"
    r"|(?P<same>same(?:\s+(?:issue|bug|problem|thing))?\s+as|already\s+(?:reported|filed)(?:\s+(?:in|as|at|under))?))"
    rf"\s+(?:(?:(?:the\s+)?(?:issue|bug|report)\s+)?{_ISSUE}"
    r"|(?<=\b(?:of|to)\s)(?:the\s+)?issue\s+(?P<bare>[1-9]\d{0,8})\b(?!\s?%|[.,/-]\d))",
    re.IGNORECASE,
)
# "This is #12 again, so closing as a duplicate", but not the duplicate key or symbol that an issue may be about.
_CALLED_ONE = re.compile(
    r"\b(?:as|an?|is|another|known)\s+(?:duplicate|dupe?)\b(?=\s*(?:[.,;:!)(-]|\Z|\n|(?:of|and|but|so|then|thanks)\b))",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?\n]")
# Denials after the claim: "Duplicate of #7? No, …" and "was called a duplicate of #7 but is not".
_TAKEN_BACK = re.compile(
    r"\s*\?\s*(?:no|nope|nah|not\s+(?:really|at\s+all)|I\s+do(?:n['’]t|\s+not)\s+think\s+so)\b"
    r"|[^.!?\n]{0,40}?\bbut\s+(?:(?:it|this|that)(?:\s+one)?\s+)?(?:(?:is|was)(?:\s+not|n['’]t)|(?:it|that)['’]s\s+not)"
    r"(?:\s+(?:really|one|a\s+dup\w*|the\s+same))?\s*(?:[.,;!)]|$)",
    re.IGNORECASE | re.MULTILINE,
)
# "#11 is a duplicate of #7" is about #11, not about the issue on which the comment stands.
_OF_ANOTHER = re.compile(
    r"(?:#|GH-|/(?:issues|pull)/|\bissue\s+)\d+\s+(?:is|was|are|were|(?:has|had|have)\s+been)"
    r"\s+(?:(?!this\b|it\b)\w+\s+){0,4}\Z",
    re.IGNORECASE,
)
# "In favor of #7" counts only in a closing comment or after "closed": people also decide against proposals this way.
_CLOSED = re.compile(r"\bclos", re.IGNORECASE)
# "Same as #7" is no claim if the issue was fixed in the same way as #7.
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
    """The comment's statement about its issue; None without such a statement, and for a denial.

    Guesses are hints, and so are statements by people who are not members. The first of several claims counts. If the
    commenter closes the issue with the comment (`closing`), guesses are certain too, and "a duplicate" beside a single
    reference names that issue. A bare reference in a closing comment is a hint.
    """
    visible = _INVISIBLE_OR_QUOTED.sub(" ", text)
    denied_claim = False
    for claim in _CLAIM.finditer(visible):
        before = _sentence_before(visible, claim.start())
        if denied(before) or _OF_ANOTHER.search(before) or _TAKEN_BACK.match(visible, claim.end()):
            denied_claim = True
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
    return _closing_statement(visible, repo, at) if closing and not denied_claim else None


def _closing_statement(visible: str, repo: RepoRef, at: str) -> Statement | None:
    """The statement of a comment that closes its issue but contains no claim."""
    if bare := _BARE.fullmatch(visible.strip()):
        return _statement(StatementKind.HINTS, bare, repo, at)
    called = _CALLED_ONE.search(visible)
    if called is None or denied(_sentence_before(visible, called.start())):
        return None
    named = {_statement(StatementKind.SAYS, one, repo, at) for one in _REFERENCE.finditer(visible)}
    return named.pop() if len(named) == 1 else None


def _sentence_before(text: str, position: int) -> str:
    return _SENTENCE_END.split(text[max(0, position - _CONTEXT) : position])[-1]


def _statement(kind: StatementKind, issue: re.Match[str], repo: RepoRef, at: str, by: str = "") -> Statement:
    """The statement about the issue that a claim or a reference names."""
    groups = issue.groupdict()
    place, number = groups["here"] or groups["there"], int(groups["number"] or groups["bare"])
    here = not _in_other_tracker(issue.string, issue.end(), repo) if place is None else name_key(place) == repo.key
    return Statement(kind, number if here else None, at, by)


# A word of a tracker's name. The excluded words belong to sentences such as "#7 in the way it clones the repo".
_WORD = (
    r"(?!(?:the|an?|of|in|on|at|it|its|is|to|and|or|how|way|when|where|which|that|cloned?|local|same)\b)[\w./-]{1,140}"
)
# All repetitions are bounded, so that matching takes linear time.
_IN_A_PLACE = re.compile(
    r"\]?[ \t]{0,3},?[ \t]{0,3}\(?(?:over[ \t]{1,3})?"
    r"(?:(?:in|on|at|of|from)[ \t]{1,3}(?:(?:the|an|your|their|its|that)[ \t]{1,3})?"
    rf"(?:(?P<words>(?:{_WORD}[ \t]{{1,3}}){{1,3}})(?:trackers?|repo|repository)"
    r"|(?:a[ \t]{1,3}(?:different|separate)[ \t]{1,3}(?:(?:issue|bug)[ \t]{1,3})?(?:tracker|repo|repository))"
    r"|(?:our[ \t]{1,3})?(?:bugzilla|launchpad|jira|gitlab|sourceforge|google[ \t]code|phabricator|trac))"
    r"|(?:up|down)stream)\b(?=\s{0,3}(?:[.,;:!?)\]–—-]|\Z|\n|(?:and|but|so|which|where|as|since|because|now|too|is|was)\b))",
    re.IGNORECASE,
)
# "In our own issue tracker" means this repository.
_HERE = frozenset({"this", "our", "own", "very", "issue", "bug", "github", "present", "current", "main"})


def _in_other_tracker(text: str, position: int, repo: RepoRef) -> bool:
    """Whether the text after an issue's number, from `position` on, places the issue in another tracker."""
    found = _IN_A_PLACE.match(text, position)
    if found is None:
        return False
    words = (found["words"] or "").lower().split()
    return not words or not set(words) <= _HERE | {name_key(repo.name), repo.key}


# The beginning of a new clause. A word such as "or" continues the old clause ("not a duplicate of #5, or of #7"). Words
# such as "and" or "so" begin a new clause only if a subject or a verb follows.
_CLAUSE = re.compile(
    r"(?:[,;:()–—]|\s-{1,2}\s)(?!\s{0,3}(?:or|nor|which|that|whose|who)\b)"
    r"|\bbut\b"
    r"|\b(?:and|so|because|since|therefore|hence|thus)\b"
    r"(?=\s{1,3}(?:this|it|that['’]s|is|was|I|we|clos\w*|mark\w*)\b)",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:not|cannot|never|isn'?t|wasn'?t|unlike|nor)\b|n['’]t\b", re.IGNORECASE)
# These words deny only the words that follow directly.
_NO = re.compile(
    r"\b(?:no(?:\s+longer)?|neither|hardly|nearly|almost)(?:\s+an?)?(?:\s+(?:exact|real|true))?\s*\Z", re.IGNORECASE
)
# A clause that continues with these words only is incomplete: "this is not, as far as I see, a duplicate", "I do not
# think, honestly, that".
_LEFT_OPEN = re.compile(
    r"(?:\s|['’](?:s|re|m)\b|\b(?:think|believe|feel|see|say|call|consider|find|agree|know|understand|get|that|this|it|he"
    r"|she|they|you|one|issue|is|was|are|were|be|been|being|have|has|had|an?|the|really|actually|exactly|quite|just"
    r"|simply|necessarily|strictly|even|yet|to|as|of|how|why|close|closed|mark|marked)\b)*",
    re.IGNORECASE,
)
# "Not the same" also denies the claim, unless a number follows: the claim may then be about another issue.
_SAMENESS = re.compile(r"\b(?:same|dup\w*|identical|related|equal|match\w*)\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?:#|GH-|/(?:issues|pull)/|\bissue\s+)\d", re.IGNORECASE)


def denied(before: str) -> bool:
    """Whether the last words before "a duplicate" deny it."""
    if _NO.search(before):
        return True
    *others, own = _CLAUSE.split(before)
    return _NOT.search(own) is not None or any(_denies_next_clause(clause) for clause in others)


def _denies_next_clause(clause: str) -> bool:
    """Whether a denial in this clause also applies to the following clauses."""
    found = list(_NOT.finditer(clause))
    if not found:
        return False
    after = clause[found[-1].end() :]
    same_as_none = _SAMENESS.search(after) is not None and not _NUMBER.search(after)
    return same_as_none or _LEFT_OPEN.fullmatch(after) is not None
