"""From what was decided and what people said to it, to labelled pairs of issues. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from bot.decisions import Decision
from bot.feedback.model import RIGHT, WORTH, Example, Kind, Signal, Who
from bot.store import Verdict, VerdictKind

# GitHub's times are whole seconds, ours are not.
_SECOND = 1.0


def examples(
    decisions: Iterable[Decision], signals: Iterable[Signal], verdicts: Iterable[Verdict], since: float = 0.0
) -> list[Example]:
    """Everything that was said at `since` or later as labelled pairs, the earliest first.

    What is said of a comment is about what it showed then: the last decision before. Who took something back has not
    said it (the caller leaves it out), and what counts for nothing is left out too.
    """
    by_issue: dict[int, list[Decision]] = {}
    for decision in sorted(decisions, key=lambda one: one.at):
        by_issue.setdefault(decision.number, []).append(decision)
    made = [
        one
        for signal in signals
        if signal.at >= since
        for one in _of_signal(signal, by_issue.get(signal.number, ()))
        if one.weight > 0
    ]
    made += [_of_verdict(one, by_issue.get(one.number, ())) for one in verdicts if one.at >= since]
    return sorted(made, key=lambda one: (one.at, one.number, one.other, one.login))


def _of_signal(signal: Signal, decisions: Sequence[Decision]) -> Iterator[Example]:
    before = [one for one in decisions if one.at < signal.at + _SECOND] or list(decisions[:1])
    if signal.other:
        yield _example(signal, signal.other, before)
        return
    if signal.kind is Kind.CLOSED:
        # Closed otherwise: as far as anybody knows none of those that came into question is the same.
        last = next((one for one in reversed(before) if one.evidence), None)
        for other in [one.number for one in last.evidence if one.own] if last else ():
            yield _example(signal, other, before, said=False)
        return
    shown = next((one.shown for one in reversed(before) if one.outcome.speaks and one.shown), ())
    # 👎 says that none of them is it, 👍 that the first of them helped.
    for one in shown[:1] if signal.same else shown:
        yield _example(signal, one.number, before)


def _of_verdict(verdict: Verdict, decisions: Sequence[Decision]) -> Example:
    kind = Kind(verdict.kind.value)
    # `of` is for people with triage; of a `not` it is noted since there are examples.
    who = Who.TRIAGE if verdict.kind is VerdictKind.OF else Who(verdict.details.get("who", Who.AUTHOR))
    said = Signal(verdict.number, kind, verdict.actor, verdict.other, verdict.kind is VerdictKind.OF, who, verdict.at)
    return _example(said, verdict.other, [one for one in decisions if one.at <= verdict.at])


def _example(signal: Signal, other: int, before: Sequence[Decision], *, said: bool = True) -> Example:
    """With what the last decision that had this pair among its best thought of it."""
    known = next((one for decision in reversed(before) if (one := decision.about(other))), None)
    return Example(
        number=signal.number,
        other=other,
        same=signal.same,
        kind=signal.kind,
        login=signal.login,
        who=signal.who,
        at=signal.at,
        weight=WORTH[signal.kind] * RIGHT[signal.who],
        probability=known.probability if known else None,
        shown=bool(known and known.shown),
        said=said,
    )


def by_issue(made: Iterable[Example]) -> dict[int, list[Example]]:
    """The examples by the issue that they are about."""
    ordered = sorted(made, key=lambda one: (one.number, one.at))
    return {number: list(group) for number, group in groupby(ordered, key=lambda one: one.number)}
