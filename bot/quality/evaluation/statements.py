"""What a comment says about its issue being a duplicate. Pure.

GitHub itself understands `Duplicate of #12` at the beginning of a comment by somebody with write access; people say it
in more ways. "This is not a duplicate of #7" denies it; "This does not work any more, duplicate of #7" says it.
"Duplicate of issue 7 in the other tracker" is about another repository.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.entities import RepoRef, name_key

# Characters before a claim in which a "not" or "maybe" may stand.
_CONTEXT = 120
#: The version of the files with histories: another one is read from GitHub again. Raise it when more is understood.
READING = 6


class StatementKind(StrEnum):
    """`SAYS`: it is a duplicate. `HINTS`: it may be one. `MARKS` and `UNMARKS` are GitHub's own events."""

    SAYS = "says"
    HINTS = "hints"
    MARKS = "marks"
    UNMARKS = "unmarks"


@dataclass(frozen=True, slots=True)
class Statement:
    """`of` is the original's number in the same repository; None if it is in another one, or not visible.

    `elsewhere` names such an original as `owner/name#12` in small letters; it may be a former name of this repository.
    `by` is the login of a person who says it plainly but is no member today: if they were a member then, it counts as
    said.
    """

    kind: StatementKind
    of: int | None
    at: str
    by: str = ""
    elsewhere: str = ""


# Code and quotations are not what the commenter says, nor is what nobody sees or what was struck out. Three ticks with
# others in their line are no fence but a span ("GitHub Flavored Markdown Spec", 4.5).
_NOT_SAID = re.compile(
    r"^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,}).*?(?:^ {0,3}\1|\Z)|`[^`\n]*`|^ {0,3}>.*?$|<!--.*?(?:-->|\Z)|~~[^~\n]+~~",
    re.MULTILINE | re.DOTALL,
)
# As long as GitHub lets names be: without a limit a long line of hyphens would be read from each of them to its end.
_PLACE = r"[\w-]{1,39}/[\w.-]{1,100}"
_ISSUE = (
    rf"[\[(<]?(?:(?P<here>{_PLACE})?(?:#|GH-)|https?://[^\s/]+/(?P<there>{_PLACE})/(?:issues|pull)/)"
    r"(?P<number>[1-9]\d{0,8})\b"
)
_REFERENCE = re.compile(rf"(?<![\w/]){_ISSUE}", re.IGNORECASE)
# A near-duplicate and half of one are none. A number without a sign is one only in "of issue 7": what makes a duplicate
# issue 2 times is no duplicate of anything, nor is 7.1, 100 % or 2024-05-01 an issue.
_CLAIM = re.compile(
    r"\b(?<!\bnear[ -])(?<!\bsemi[ -])(?<!\bhalf[ -])(?<!\bnon[ -])"
    r"(?:(?:duplicates?|dup(?:e|li)?s?):?(?:\s+(?:of|to))?|(?P<favor>in\s+favou?r\s+of)"
    r"|(?P<same>same(?:\s+(?:issue|bug|problem|thing))?\s+as|already\s+(?:reported|filed)(?:\s+(?:in|as|at|under))?))"
    rf"\s+(?:(?:(?:the\s+)?(?:issue|bug|report)\s+)?{_ISSUE}"
    r"|(?<=\b(?:of|to)\s)(?:the\s+)?issue\s+(?P<bare>[1-9]\d{0,8})\b(?!\s?%|[.,/-]\d))",
    re.IGNORECASE,
)
# "This is #12 again, so closing as a duplicate": not the duplicate key or symbol that an issue may be about.
_CALLED_ONE = re.compile(
    r"\b(?:as|an?|is|another|known)\s+(?:duplicate|dupe?)\b(?=\s*(?:[.,;:!)(-]|\Z|\n|(?:of|and|but|so|then|thanks)\b))",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?\n]")
# "Duplicate of #7? No, …" and "was called a duplicate of #7 but is not", where the claim has ended.
_TAKEN_BACK = re.compile(
    r"\s*\?\s*(?:no|nope|nah|not\s+(?:really|at\s+all)|I\s+do(?:n['’]t|\s+not)\s+think\s+so)\b"
    r"|[^.!?\n]{0,40}?\bbut\s+(?:(?:it|this|that)(?:\s+one)?\s+)?(?:(?:is|was)(?:\s+not|n['’]t)|(?:it|that)['’]s\s+not)"
    r"(?:\s+(?:really|one|a\s+dup\w*|the\s+same))?\s*(?:[.,;!)]|$)",
    re.IGNORECASE | re.MULTILINE,
)
# "#11 is a duplicate of #7" is said of #11, wherever it stands.
_OF_ANOTHER = re.compile(
    r"(?:#|GH-|/(?:issues|pull)/|\bissue\s+)\d+\s+(?:is|was|are|were|(?:has|had|have)\s+been)"
    r"\s+(?:(?!this\b|it\b)\w+\s+){0,4}\Z",
    re.IGNORECASE,
)
# What was decided or rejected in favor of something is not the issue.
_CLOSED = re.compile(r"\bclos", re.IGNORECASE)
# What is closed as the same is a duplicate, but not what was fixed by the same as something, or in the same way.
_DONE = re.compile(r"\b(?:fix|sol[uv]|resol|merg|implement|done)", re.IGNORECASE)
_DOUBTED = re.compile(
    r"\b(?:may|might|could|would|maybe|perhaps|possibl[ey]|potential(?:ly)?|probabl[ey]|likely|seems?|looks?|think"
    r"|guess|suspect|wonder|if|or|related|similar|partial(?:ly)?|unsure|(?:not|n['’]t)\s+(?:\w+\s+){0,2}(?:sure|certain))\b",
    re.IGNORECASE,
)
# All that some say who close an issue. It is no decision (docs/research/accuracy.md says what was read of it).
_BARE = re.compile(rf"(?:see(?:\s{{1,3}}also)?:?\s{{1,3}})?(?:issue\s{{1,3}})?{_ISSUE}[\])>]?[.!]?", re.IGNORECASE)


def read_comment(
    text: str, repo: RepoRef, at: str, *, by_member: bool, by: str = "", closing: bool = False
) -> Statement | None:
    """What a comment says; None if it says nothing of the kind, or denies it.

    Suppositions are hints, and so are statements of people who are no members. Of several claims the first counts. A
    comment with which the same person closes the issue (`closing`) is certain: a supposition counts as said, and "a
    duplicate" beside a single reference names that one. A bare reference is a hint.
    """
    said = _NOT_SAID.sub(" ", text)
    taken_back = False
    for claim in _CLAIM.finditer(said):
        before = _sentence_before(said, claim.start())
        if denied(before) or _OF_ANOTHER.search(before) or _TAKEN_BACK.match(said, claim.end()):
            taken_back = True
            continue
        if claim["favor"] and not (closing or _CLOSED.search(before)):
            continue
        if claim["same"] and (not closing or _DONE.search(before)):
            continue
        end = _SENTENCE_END.search(said, claim.end())
        unsure = _DOUBTED.search(before) or (end and end[0] == "?")
        if closing or (by_member and not unsure):
            return _statement(StatementKind.SAYS, claim, repo, at)
        return _statement(StatementKind.HINTS, claim, repo, at, "" if unsure else by)
    return _closing_words(said, repo, at) if closing and not taken_back else None


def _closing_words(said: str, repo: RepoRef, at: str) -> Statement | None:
    """What a comment without a claim says about the issue that was closed with it."""
    if bare := _BARE.fullmatch(said.strip()):
        return _statement(StatementKind.HINTS, bare, repo, at)
    called = _CALLED_ONE.search(said)
    if called is None or denied(_sentence_before(said, called.start())):
        return None
    named = {_statement(StatementKind.SAYS, one, repo, at) for one in _REFERENCE.finditer(said)}
    return named.pop() if len(named) == 1 else None


def _sentence_before(text: str, position: int) -> str:
    return _SENTENCE_END.split(text[max(0, position - _CONTEXT) : position])[-1]


def _statement(kind: StatementKind, issue: re.Match[str], repo: RepoRef, at: str, by: str = "") -> Statement:
    """The statement about the issue that a claim or a reference names."""
    told = issue.groupdict()
    place, number = told["here"] or told["there"], int(told["number"] or told["bare"])
    if place is None and elsewhere(issue.string, issue.end(), repo):
        return Statement(kind, None, at, by)
    if place is None or name_key(place) == repo.key:
        return Statement(kind, number, at, by)
    return Statement(kind, None, at, by, name_key(f"{place}#{number}"))


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
    """Whether the text after a number, from `position` on, says that the issue is in another place."""
    found = _IN_A_PLACE.match(text, position)
    if found is None:
        return False
    words = (found["words"] or "").lower().split()
    return not words or not set(words) <= _HERE | {name_key(repo.name), repo.key}


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
    """Whether the last words before "a duplicate" deny it."""
    if _NO.search(before):
        return True
    *others, own = _CLAUSE.split(before)
    return _NOT.search(own) is not None or any(_reaches_on(clause) for clause in others)


def _reaches_on(clause: str) -> bool:
    """Whether a clause holds a denial of what comes after it."""
    found = list(_NOT.finditer(clause))
    if not found:
        return False
    after = clause[found[-1].end() :]
    same_as_none = _SAMENESS.search(after) is not None and not _NUMBER.search(after)
    return same_as_none or _LEFT_OPEN.fullmatch(after) is not None
