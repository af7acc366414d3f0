"""The boxes of the digest's issue: who may write to the repository ticks them, and so says which pairs are the same.

GitHub gives reactions to a whole comment, not to a line of it, and a comment for each pair would be a flood of mail. A
task list needs no page, costs one click, and is an `issues.edited` that names who clicked. Only people who can write to
the repository can tick the boxes of somebody else's issue. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.judgements import Kind, Signal, Who

_BOX = re.compile(r"^ {0,6}[-*] \[([ xX])\] <!-- ([1-9][0-9]{0,9}) ([1-9][0-9]{0,9}) (same|other) -->", re.MULTILINE)

Pair = tuple[int, int]

SOMEBODY = "(somebody who can write here)"
"""Whose box it is where the event that names them has not come: no login has brackets."""


def box(pair: Pair, same: bool, ticked: bool) -> str:
    """The beginning of the line of a box, which is followed by what it says."""
    return f"- [{'x' if ticked else ' '}] <!-- {pair[0]} {pair[1]} {'same' if same else 'other'} -->"


def read(body: str) -> dict[Pair, bool | None]:
    """For each pair in the issue whether it is said to be the same; None where no box is ticked, or both are."""
    ticked: dict[Pair, set[bool]] = {}
    for mark, number, other, word in _BOX.findall(body):
        said = ticked.setdefault((int(number), int(other)), set())
        if mark != " ":
            said.add(word == "same")
    return {pair: next(iter(said)) if len(said) == 1 else None for pair, said in ticked.items()}


def known_boxes(signals: Iterable[Signal]) -> dict[Pair, bool]:
    """The boxes that are known to be ticked."""
    return {(one.number, one.other): one.same for one in signals if one.kind is Kind.BOX}


def changed(body: str, known: dict[Pair, bool], login: str, now: float) -> tuple[list[Signal], list[Pair]]:
    """What the issue says that was not known: new signals, and pairs of which nothing is said any more."""
    said = read(body)
    new = [
        Signal(number, Kind.BOX, login, other, same, Who.TRIAGE, now)
        for (number, other), same in said.items()
        if same is not None and known.get((number, other)) is not same
    ]
    return new, [pair for pair, same in said.items() if same is None and pair in known]
