"""The digest: what the bot did in a period and what people said about it. An issue shows the digest with checkboxes.

People who can write to the repository tick boxes to say which pairs are the same. Reactions would not do: GitHub
attaches a reaction to a whole comment, not to a line, and one comment for each pair would flood people with mail. A box
takes one click, and the click's `issues.edited` event names the person who clicked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from bot.domain.decisions import COMMAND, Decision, DecisionOutcome
from bot.domain.feedback import FeedbackKind, FeedbackSignal, Role
from bot.domain.formats import format_time
from bot.quality.calibration import WINDOW, feedback_since
from bot.quality.feedback import Example, by_issue
from bot.search.index import Index
from bot.storage import Store

# Matches what `checkbox` writes at the beginning of a line, indented or not.
_BOX = re.compile(r"^ {0,6}[-*] \[([ xX])\] <!-- ([1-9][0-9]{0,9}) ([1-9][0-9]{0,9}) (same|other) -->", re.MULTILINE)

Pair = tuple[int, int]

SOMEBODY = "(somebody who can write here)"
"""Stands for a person who ticked a box, until an event names the person. No login contains parentheses."""


def checkbox(pair: Pair, same: bool, ticked: bool) -> str:
    """The beginning of a checkbox's line, such as `- [x] <!-- 12 7 same -->`."""
    return f"- [{'x' if ticked else ' '}] <!-- {pair[0]} {pair[1]} {'same' if same else 'other'} -->"


def read_checkboxes(body: str) -> dict[Pair, bool | None]:
    """Each pair's answer in the digest issue: True for `same`, False for `other`, None if both or neither is ticked."""
    ticked: dict[Pair, set[bool]] = {}
    for mark, number, other, word in _BOX.findall(body):
        answers = ticked.setdefault((int(number), int(other)), set())
        if mark != " ":
            answers.add(word == "same")
    return {pair: next(iter(answers)) if len(answers) == 1 else None for pair, answers in ticked.items()}


def stored_checkboxes(signals: Iterable[FeedbackSignal]) -> dict[Pair, bool]:
    """The stored answers of the checkboxes: for each pair, whether both issues are the same."""
    return {(signal.number, signal.other): signal.same for signal in signals if signal.kind is FeedbackKind.BOX}


WEEK = 7 * 86_400.0


def digest_of(store: Store, repo_id: int, since: float, now: float) -> Digest:
    """The digest of [since, now). Counts feedback of the last year at least, even from before a `calibrate --reset`."""
    decisions = store.decisions.between(repo_id, since, now)
    feedback = feedback_since(store, repo_id, min(since, now - WINDOW), {decision.number for decision in decisions})
    spent = store.judgements.spent(repo_id, since, now)
    return replace(digest(decisions, feedback, since, now), asked=spent.calls, cost=spent.cost)


def titles_of(index: Index, repo_id: int, found: Digest) -> Mapping[int, str]:
    """The titles of those issues of the digest that the index holds."""
    numbers = {number for line in found.lines for number in (line.number, line.other)}
    with index.view(repo_id) as view:
        return {number: title for number, (title, _) in view.texts(numbers).items()}


def store_checkboxes(store: Store, index: Index, repo_id: int, body: str, login: str, now: float) -> int:
    """Store the boxes in the digest issue's text as signals by `login`; return how many pairs' answers changed."""
    signals, answers = store.signals, read_checkboxes(body)
    known = stored_checkboxes(signals.since(repo_id, 0.0))
    new = [
        FeedbackSignal(pair[0], FeedbackKind.BOX, login, pair[1], same, Role.TRIAGE, now)
        for pair, same in answers.items()
        if same is not None and known.get(pair) is not same
    ]
    cleared = [pair for pair, same in answers.items() if same is None and pair in known]
    # A box can name a deleted or transferred issue, whose decisions are erased. Store nothing about such an issue.
    checked = {one.number for one in store.decisions.of_issues(repo_id, {one.number for one in new})}
    others = {one.other for one in new}
    # Only a complete index shows that an issue is gone.
    if store.backfills.complete(repo_id):
        with index.view(repo_id) as view:
            others = set(view.issues(others))
    new = [one for one in new if one.number in checked and one.other in others]
    # All people share a pair's boxes, so a new signal replaces the pair's earlier signal, whoever ticked the box.
    for number, other in (*cleared, *((one.number, one.other) for one in new)):
        signals.drop(repo_id, number, FeedbackKind.BOX, other)
    for signal in new:
        signals.put(repo_id, signal)
    return len(new) + len(cleared)


class CommentRating(StrEnum):
    """What people have said about a comment so far: right, wrong, both (`DISPUTED`), or nothing (`UNKNOWN`)."""

    RIGHT = "right"
    WRONG = "wrong"
    DISPUTED = "disputed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class DigestLine:
    """One issue on which the bot commented, or would have commented.

    `other` is the first issue of this repository that the comment names, with the `probability` that both are the same.
    `standing` is people's rating of the comment. `said` lists the kinds of feedback that led to this rating.
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
    """What the bot did from `since` to `until`, in seconds since 1970.

    `looked` counts the checked issues, and `new` the checked issues that were opened in this period. `commented` counts
    issues with a comment. `would` counts issues that would have a comment without `mode: shadow`. `missed` counts the
    remaining checked issues that people called duplicates. `left_alone` counts the issues that were skipped or whose
    comment GitHub refused. `lines` starts with the latest line. `asked` counts the questions to the judge, and `cost`
    is their price. `watching` says whether the bot made its latest decision in shadow mode.
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
        return sum(line.standing == standing for line in self.lines)

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
                asdict(line) | {"at": format_time(line.at), "probability": round(line.probability, 4)}
                for line in self.lines
            ],
        }


def digest(decisions: Iterable[Decision], examples: Iterable[Example], since: float, until: float) -> Digest:
    """The digest of decisions in [since, until); `examples` is all feedback known now."""
    inside = [one for one in sorted(decisions, key=lambda one: one.at) if since <= one.at < until]
    feedback = by_issue(examples)
    checked = {one.number for one in inside if one.outcome is not DecisionOutcome.LEFT_ALONE}
    lines = tuple(sorted(_lines(inside, feedback).values(), key=lambda line: -line.at))
    # Unlike `lines`, `speaking` also has decisions whose comments name only other repositories' issues.
    speaking = [one for one in inside if one.outcome.speaks and any(it.shown for it in one.evidence)]
    was_posted = {one.number: one.outcome.seen for one in speaking}
    was_posted |= {line.number: line.posted for line in lines}
    return Digest(
        since=since,
        until=until,
        new=len({one.number for one in inside if one.cause == "opened"} & checked),
        looked=len(checked),
        commented=sum(was_posted.values()),
        would=len(was_posted) - sum(was_posted.values()),
        left_alone=len({one.number for one in inside} - checked),
        missed=sum(any(one.same for one in feedback.get(number, ())) for number in checked - set(was_posted)),
        lines=lines,
        watching=bool(inside) and inside[-1].mode == "shadow",
    )


def _lines(decisions: Iterable[Decision], feedback: Mapping[int, Sequence[Example]]) -> dict[int, DigestLine]:
    """Each issue's line by number; `decisions` start with the earliest.

    A line shows one decision on its issue: preferably a decision with feedback, then a decision without a command, then
    the latest decision. The answer to a command says less about the threshold: it may list less likely candidates, or
    candidates found by a person's own words.
    """
    lines: dict[int, DigestLine] = {}
    ranks: dict[int, tuple[bool, bool]] = {}
    for decision in decisions:
        if decision.outcome.speaks and decision.shown:
            line = _line(decision, feedback.get(decision.number, ()))
            rank = (line.standing is not CommentRating.UNKNOWN, decision.cause != COMMAND)
            if decision.number not in ranks or rank >= ranks[decision.number]:
                lines[decision.number], ranks[decision.number] = line, rank
    return lines


def _line(decision: Decision, feedback: Sequence[Example]) -> DigestLine:
    shown = decision.shown
    confirmations = [one for one in feedback if one.same and any(candidate.is_about(one.other) for candidate in shown)]
    rejections = [one for one in feedback if not one.same]
    rejected = [candidate for candidate in shown if any(candidate.is_about(one.other) for one in rejections)]
    wrong = len(rejected) == len(shown)
    standing = {
        (True, True): CommentRating.DISPUTED,
        (True, False): CommentRating.RIGHT,
        (False, True): CommentRating.WRONG,
        (False, False): CommentRating.UNKNOWN,
    }[bool(confirmations), wrong]
    kinds = dict.fromkeys(one.kind for one in (*confirmations, *(rejections if wrong else ())))
    posted, first = decision.outcome.seen, shown[0]
    return DigestLine(decision.number, decision.at, posted, first.number, first.probability, standing, tuple(kinds))
