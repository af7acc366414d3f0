"""Turns people's feedback into labelled pairs (`Example`), and these into people's decisions on pairs (`Decided`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from bot.domain.decisions import Decision
from bot.domain.feedback import FeedbackKind, FeedbackSignal, Role, UserVerdict, UserVerdictKind
from bot.storage import Store


def decisions_on_pairs(store: Store, repo_id: int) -> Decided:
    """People's decisions on the pairs of a repository's issues, from all kinds of feedback."""
    signals = store.signals.deciding(repo_id)
    verdicts = store.verdicts.since(repo_id, 0.0)
    # A reaction's signal has no `other`. The bot's decisions on the issue tell which issues the comment named.
    decisions = store.decisions.of_issues(repo_id, {one.number for one in signals if not one.other})
    return decide_pairs(examples(decisions, signals, verdicts), store.verdicts.originals(repo_id))


Pair = tuple[int, int]
"""Two issues' numbers, the smaller one first."""


@dataclass(frozen=True, slots=True)
class Decided:
    """The pairs that people called the `same` or `different`.

    `originals` maps a duplicate to the issue that `/duplicates of` named, or else to the earlier issue of the pair.
    """

    same: frozenset[Pair] = frozenset()
    different: frozenset[Pair] = frozenset()
    originals: Mapping[int, int] = field(default_factory=dict)

    def different_from(self, number: int) -> set[int]:
        return {issue for pair in self.different if number in pair for issue in pair} - {number}


UNDECIDED = Decided()


def pair_of(one: int, other: int) -> Pair:
    return min(one, other), max(one, other)


def decide_pairs(made: Iterable[Example], closed_for: Mapping[int, int]) -> Decided:
    """The decisions that follow from all examples. `closed_for` maps issues closed by commands to their originals."""
    decisive: dict[Pair, Example] = {}
    # The example with the greatest weight decides a pair. Ties go to the latest example, and then to "different".
    for example in sorted(made, key=lambda example: (example.weight, example.at, not example.same)):
        decisive[pair_of(example.number, example.other)] = example
    same = frozenset(pair for pair, example in decisive.items() if example.same)
    different = frozenset(decisive) - same
    commanded = dict(pair for pair in closed_for.items() if pair_of(*pair) not in different)
    return Decided(same, different, {later: earlier for earlier, later in sorted(same)} | commanded)


WEIGHT: Mapping[Role, float] = {Role.TRIAGE: 1.0, Role.AUTHOR: 0.5, Role.OTHER: 0.0}
"""The weight of a role: triagers know all issues, the author knows one, and a stranger may have many accounts."""


@dataclass(frozen=True, slots=True)
class Example:
    """One labelled pair: whether `number` and `other` report the same thing, according to feedback by `login`.

    `weight` is in (0, 1]. `probability` is the bot's estimate at that time; None if `other` was not among the best
    candidates. `shown` says whether the comment named `other`.
    """

    number: int
    other: int
    same: bool
    kind: FeedbackKind
    login: str
    who: Role
    at: float
    weight: float
    probability: float | None
    shown: bool


# GitHub gives a signal's time in whole seconds, so a decision in the same second may have come before the signal.
_SECOND = 1.0


def examples(
    decisions: Iterable[Decision],
    signals: Iterable[FeedbackSignal],
    verdicts: Iterable[UserVerdict],
    since: float = 0.0,
) -> list[Example]:
    """All feedback from `since` on as labelled pairs, earliest first. Leaves out feedback without weight.

    A reaction judges the issues that the bot's comment named at that time. If the bot had only
    one issue of a pair as a candidate, the example's `other` is this candidate. If an issue has several
    `of` commands, the last counts. The caller leaves out retracted feedback.
    """
    by_number: dict[int, list[Decision]] = {}
    for decision in sorted(decisions, key=lambda one: one.at):
        by_number.setdefault(decision.number, []).append(decision)
    made = [
        one
        for signal in signals
        if signal.at >= since
        for one in _examples_of_signal(_on_commented_issue(signal, by_number), by_number)
        if one.weight > 0
    ]
    signals_from_verdicts = [
        _on_commented_issue(_verdict_signal(one), by_number) for one in _valid_verdicts(verdicts) if one.at >= since
    ]
    for signal in signals_from_verdicts:
        on_issue = by_number.get(signal.number, ())
        before = [decision for decision in on_issue if decision.at <= signal.at]
        made.append(_example(signal, signal.other, before))
    return sorted(made, key=lambda one: (one.at, one.number, one.other, one.login))


def _valid_verdicts(verdicts: Iterable[UserVerdict]) -> Iterator[UserVerdict]:
    """All verdicts, except each `of` that a later `of` on the same issue replaces."""
    last: dict[int, UserVerdict] = {}
    for verdict in sorted(verdicts, key=lambda one: (one.at, one.id)):
        if verdict.kind is UserVerdictKind.OF:
            last[verdict.number] = verdict
        else:
            yield verdict
    yield from last.values()


def _on_commented_issue(signal: FeedbackSignal, by_number: Mapping[int, Sequence[Decision]]) -> FeedbackSignal:
    """Swap the issues if `number` was a candidate for `other`, but `other` was no candidate for `number`.

    People can close an earlier issue in favour of a later one on which the bot commented, or say `not` on the earlier
    issue.
    """
    here, there = by_number.get(signal.number, ()), by_number.get(signal.other, ())
    if not signal.other or _has_candidate(here, signal.other) or not _has_candidate(there, signal.number):
        return signal
    return replace(signal, number=signal.other, other=signal.number)


def _has_candidate(decisions: Iterable[Decision], number: int) -> bool:
    return any(decision.about(number) for decision in decisions)


def _examples_of_signal(signal: FeedbackSignal, by_number: Mapping[int, Sequence[Decision]]) -> Iterator[Example]:
    decisions = by_number.get(signal.number, ())
    # A vote can come before the bot has stored its first decision. Such a vote is about the first decision.
    before = [one for one in decisions if one.at < signal.at + _SECOND] or list(decisions[:1])
    if signal.other:
        yield _example(signal, signal.other, before)
        return
    # Earlier versions also stored closings without an original, which say nothing about a pair.
    if signal.kind is not FeedbackKind.CLOSED:
        yield from _examples_of_reaction(signal, before)


def _examples_of_reaction(signal: FeedbackSignal, before: Sequence[Decision]) -> Iterator[Example]:
    """The examples from a reaction: 👎 rejects every issue that the comment names, and 👍 confirms the first one."""
    commented = next((decision for decision in reversed(before) if decision.outcome.speaks and decision.shown), None)
    named = [one for one in commented.evidence if one.shown] if commented else []
    # If the first issue belongs to another repository, a 👍 gives no example.
    for one in named[:1] if signal.same else named:
        if one.own:
            yield _example(signal, one.number, before)


def _verdict_signal(verdict: UserVerdict) -> FeedbackSignal:
    same = verdict.kind is UserVerdictKind.OF
    # An earlier version stored no role. It allowed `of` only to triagers, and `not` to triagers and the author.
    default_role = Role.TRIAGE if same else Role.AUTHOR
    role = Role(verdict.details.get("who", default_role))
    return FeedbackSignal(
        verdict.number, FeedbackKind(verdict.kind.value), verdict.actor, verdict.other, same, role, verdict.at
    )


def _example(signal: FeedbackSignal, other: int, before: Sequence[Decision]) -> Example:
    """The example, with the probability from the last decision that has this pair among its candidates."""
    known = next((evidence for decision in reversed(before) if (evidence := decision.about(other))), None)
    return Example(
        number=signal.number,
        other=other,
        same=signal.same,
        kind=signal.kind,
        login=signal.login,
        who=signal.who,
        at=signal.at,
        weight=WEIGHT[signal.who],
        probability=known.probability if known else None,
        shown=bool(known and known.shown),
    )


def by_issue(made: Iterable[Example]) -> dict[int, list[Example]]:
    """The examples of each issue, earliest first."""
    ordered = sorted(made, key=lambda example: (example.number, example.at))
    return {number: list(group) for number, group in groupby(ordered, key=lambda example: example.number)}
