"""The digest: what the bot did in a period and what people said about it, and the checkboxes of the digest's issue.

People who can write to the repository tick boxes to say which pairs are the same. GitHub gives reactions to a whole
comment, not to a line, and a comment for each pair would be a flood of mail. A task list costs one click, and is an
`issues.edited` that names who clicked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from bot.domain.decisions import COMMAND, Decision, DecisionOutcome
from bot.domain.feedback import FeedbackKind, FeedbackSignal, Role
from bot.domain.formats import format_time
from bot.quality.calibration import WINDOW, feedback_since
from bot.quality.feedback import Example, by_issue
from bot.search.index import Index
from bot.storage import Store

_BOX = re.compile(r"^ {0,6}[-*] \[([ xX])\] <!-- ([1-9][0-9]{0,9}) ([1-9][0-9]{0,9}) (same|other) -->", re.MULTILINE)

Pair = tuple[int, int]

SOMEBODY = "(somebody who can write here)"
"""Who ticked a box if the event that names them has not come. No login has brackets."""


def checkbox(pair: Pair, same: bool, ticked: bool) -> str:
    """The beginning of the line of a checkbox."""
    return f"- [{'x' if ticked else ' '}] <!-- {pair[0]} {pair[1]} {'same' if same else 'other'} -->"


def read_checkboxes(body: str) -> dict[Pair, bool | None]:
    """For each pair in the issue whether it is said to be the same; None if no box is ticked, or both are."""
    ticked: dict[Pair, set[bool]] = {}
    for mark, number, other, word in _BOX.findall(body):
        said = ticked.setdefault((int(number), int(other)), set())
        if mark != " ":
            said.add(word == "same")
    return {pair: next(iter(said)) if len(said) == 1 else None for pair, said in ticked.items()}


def stored_checkboxes(signals: Iterable[FeedbackSignal]) -> dict[Pair, bool]:
    """The boxes that are known to be ticked."""
    return {(one.number, one.other): one.same for one in signals if one.kind is FeedbackKind.BOX}


def changed_checkboxes(
    body: str, known: dict[Pair, bool], login: str, now: float
) -> tuple[list[FeedbackSignal], list[Pair]]:
    """What changed in the issue: new signals, and pairs whose boxes were cleared."""
    said = read_checkboxes(body)
    new = [
        FeedbackSignal(number, FeedbackKind.BOX, login, other, same, Role.TRIAGE, now)
        for (number, other), same in said.items()
        if same is not None and known.get((number, other)) is not same
    ]
    return new, [pair for pair, same in said.items() if same is None and pair in known]


WEEK = 7 * 86_400.0


def digest_of(store: Store, repo_id: int, since: float, now: float) -> Digest:
    """What the bot did from `since` to `now`, with all that people have said of it, also before the last reset."""
    decisions = store.decisions.between(repo_id, since, now)
    said = feedback_since(store, repo_id, min(since, now - WINDOW), {one.number for one in decisions})
    spent = store.judgements.spent(repo_id, since, now)
    return replace(digest(decisions, said, since, now), asked=spent.calls, cost=spent.cost)


def titles_of(index: Index, repo_id: int, found: Digest) -> Mapping[int, str]:
    """The titles of the digest's issues, as far as the index has them."""
    numbers = {number for line in found.lines for number in (line.number, line.other)}
    with index.view(repo_id) as view:
        return {number: title for number, (title, _) in view.texts(numbers).items()}


def store_checkboxes(store: Store, index: Index, repo_id: int, body: str, login: str, now: float) -> int:
    """Store the boxes in the digest issue's text as signals of that person; return how many have changed."""
    signals = store.signals
    known = stored_checkboxes(signals.since(repo_id, 0.0))
    new, gone = changed_checkboxes(body, known, login, now)
    # A box outlives its issues: nothing may be stored about one that was deleted or transferred.
    looked_at = {one.number for one in store.decisions.of_issues(repo_id, {one.number for one in new})}
    others = {one.other for one in new}
    if store.backfills.complete(repo_id):
        with index.view(repo_id) as view:
            others = set(view.issues(others))
    new = [one for one in new if one.number in looked_at and one.other in others]
    # One box serves everybody, so whoever ticked it before is replaced.
    for number, other in (*gone, *((one.number, one.other) for one in new)):
        signals.drop(repo_id, number, FeedbackKind.BOX, other)
    for signal in new:
        signals.put(repo_id, signal)
    return len(new) + len(gone)


class CommentRating(StrEnum):
    """What people have said so far: that a comment was right, wrong, both, or nothing."""

    RIGHT = "right"
    WRONG = "wrong"
    DISPUTED = "disputed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class DigestLine:
    """One issue on which the bot commented, or would have: `other` is its likeliest candidate, with its probability.

    `said` is how people said that it was right or wrong.
    """

    number: int
    at: float
    posted: bool
    other: int
    probability: float
    standing: CommentRating
    said: tuple[FeedbackKind, ...]


@dataclass(frozen=True, slots=True)
class Digest:
    """Times are seconds since 1970. `looked` counts all issues that were checked, `new` those of them that were opened
    then.

    The bot `commented` on some, `would` have commented on some (`mode: shadow`), and stayed silent on the rest;
    `missed` of those were closed as duplicates of a candidate that it did not name. `lines` are the latest first; a
    comment that names only issues of other repositories has none. The judge was `asked` so many questions, at this
    `cost`. `watching`: at the last look the bot only watched.
    """

    since: float
    until: float
    new: int
    looked: int
    commented: int
    would: int
    left_alone: int
    missed: int
    lines: tuple[DigestLine, ...]
    asked: int = 0
    cost: float = 0.0
    watching: bool = False

    def count(self, standing: CommentRating) -> int:
        """How many comments have this rating."""
        return sum(line.standing is standing for line in self.lines)

    def to_json(self) -> dict[str, Any]:
        """Plain values for `json.dumps`; times are ISO 8601 in UTC."""
        return {
            "since": format_time(self.since),
            "until": format_time(self.until),
            "new": self.new,
            "looked": self.looked,
            "commented": self.commented,
            "would_have_commented": self.would,
            "left_alone": self.left_alone,
            "missed": self.missed,
            **{standing.value: self.count(standing) for standing in CommentRating},
            **({"judge": {"questions": self.asked, "cost": round(self.cost, 4)}} if self.asked else {}),
            "issues": [
                {
                    "number": line.number,
                    "at": format_time(line.at),
                    "posted": line.posted,
                    "other": line.other,
                    "probability": round(line.probability, 4),
                    "standing": line.standing.value,
                    "said": [kind.value for kind in line.said],
                }
                for line in self.lines
            ],
        }


def digest(decisions: Iterable[Decision], examples: Iterable[Example], since: float, until: float) -> Digest:
    """The digest of the decisions from `since` to before `until`; `examples` is all feedback known by now."""
    inside = [one for one in sorted(decisions, key=lambda one: one.at) if since <= one.at < until]
    said = by_issue(examples)
    looked = {one.number for one in inside if one.outcome is not DecisionOutcome.LEFT_ALONE}
    lines = tuple(sorted(_lines(inside, said).values(), key=lambda line: -line.at))
    # A comment that names other repositories' issues alone has no line, and is one all the same.
    posted = {
        one.number: one.outcome.seen for one in inside if one.outcome.speaks and any(it.shown for it in one.evidence)
    } | {line.number: line.posted for line in lines}
    return Digest(
        since=since,
        until=until,
        new=len({one.number for one in inside if one.cause == "opened"} & looked),
        looked=len(looked),
        commented=sum(posted.values()),
        would=len(posted) - sum(posted.values()),
        left_alone=len({one.number for one in inside} - looked),
        missed=sum(any(one.same for one in said.get(number, ())) for number in looked - set(posted)),
        lines=lines,
        watching=bool(inside) and inside[-1].mode == "shadow",
    )


def _lines(decisions: Iterable[Decision], said: Mapping[int, Sequence[Example]]) -> dict[int, DigestLine]:
    """The line of each issue by its number; `decisions` are the earliest first."""
    lines: dict[int, DigestLine] = {}
    unasked: set[int] = set()
    for one in decisions:
        if one.outcome.speaks and one.shown:
            line = _line(one, said.get(one.number, ()))
            asked_again = one.cause == COMMAND and one.number in unasked
            if _replaces(line, lines.get(one.number), asked_again=asked_again):
                lines[one.number] = line
            if one.cause != COMMAND:
                unasked.add(one.number)
    return lines


def _replaces(line: DigestLine, known: DigestLine | None, *, asked_again: bool) -> bool:
    """Whether a later line of an issue replaces the known one.

    A line that people have judged is never replaced by one that nobody has. The threshold is judged by what the bot
    said of its own accord, so that gives way to the answer to a command (`asked_again`) only if that alone is judged:
    the command may have asked for less likely candidates, or with words of its own.
    """
    judged = line.standing is not CommentRating.UNKNOWN
    known_judged = known is not None and known.standing is not CommentRating.UNKNOWN
    return judged and not known_judged if asked_again else judged or not known_judged


def _line(decision: Decision, said: Sequence[Example]) -> DigestLine:
    shown = decision.shown
    right = [one for one in said if one.same and any(candidate.is_about(one.other) for candidate in shown)]
    against = [one for one in said if not one.same]
    wrong = all(any(candidate.is_about(one.other) for one in against) for candidate in shown)
    standing = {
        (True, True): CommentRating.DISPUTED,
        (True, False): CommentRating.RIGHT,
        (False, True): CommentRating.WRONG,
        (False, False): CommentRating.UNKNOWN,
    }[bool(right), wrong]
    kinds = dict.fromkeys(one.kind for one in (*right, *(against if wrong else ())))
    posted = decision.outcome is not DecisionOutcome.SHADOW
    return DigestLine(
        decision.number, decision.at, posted, shown[0].number, shown[0].probability, standing, tuple(kinds)
    )
