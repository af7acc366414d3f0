"""Whether what is there after a chaos run is what a calm bot would have left. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bench.chaos.story import Tale

ADVICE = "<!-- doppel:advice"
_REPLY = re.compile(r"<!-- doppel:reply v1 (\d+)")
_CANDIDATE = re.compile(r"\[#\d+\]\(https://redirect\.github\.com/[^)]*/issues/(\d+)\)")
_UNASKED = re.compile(r"Unasked, the bot would have named (.*?)\. That takes")
_NAMED = re.compile(r"`#(\d+)`")


@dataclass(frozen=True, slots=True)
class Seen:
    """What GitHub shows of one issue of the story in the end.

    `originals` are the numbers of its two earlier reports, `said` the bodies of the bot's own comments, `asked` the ids
    of the comments with a command that asks for a reply, `kept` the rows that the store still has of it.
    """

    name: str
    tale: Tale
    originals: tuple[int, int]
    said: tuple[str, ...]
    asked: frozenset[int] = frozenset()
    kept: int = 0


@dataclass(frozen=True, slots=True)
class Deliveries:
    """What became of the deliveries, by GUID: how often each was answered "queued", the status of each of its runs in
    the queue, those that were never taken, and those that are dead letters where they should (`poison`)."""

    queued: Mapping[str, int]
    runs: Mapping[str, Sequence[str]]
    never_taken: frozenset[str] = frozenset()
    dead: frozenset[str] = frozenset()
    poison: frozenset[str] = frozenset()


@dataclass(slots=True)
class Judgement:
    """Counts, and a sentence for each thing that is wrong."""

    accepted: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    dead: list[str] = field(default_factory=list)
    comments: Counter[int] = field(default_factory=Counter)

    @property
    def well(self) -> bool:
        """Whether nothing is wrong."""
        return not (self.lost or self.doubled or self.wrong or self.dead)

    def problems(self) -> Iterable[str]:
        """All sentences."""
        return [*self.lost, *self.doubled, *self.wrong, *self.dead]


def judge(seen: Iterable[Seen], deliveries: Deliveries) -> Judgement:
    """Compare what is there with what must be."""
    found = Judgement(accepted=len(deliveries.queued))
    for guid in sorted(deliveries.never_taken):
        found.lost.append(f"delivery {guid} was never taken")
    for guid, times in sorted(deliveries.queued.items()):
        runs = deliveries.runs.get(guid, ())
        if times > 1:
            found.doubled.append(f"delivery {guid} was accepted {times} times")
        if not runs or (any(status != "done" for status in runs) and guid not in deliveries.dead):
            found.lost.append(f"delivery {guid} is not done: {', '.join(runs) or 'not in the queue'}")
    for guid in sorted(deliveries.dead ^ deliveries.poison):
        found.dead.append(f"delivery {guid} is {'' if guid in deliveries.dead else 'no '}dead letter")
    for one in seen:
        _judge_issue(one, found)
    return found


def _judge_issue(one: Seen, found: Judgement) -> None:
    if one.tale.deleted:
        if one.kept:
            found.wrong.append(f"{one.name} was deleted, and the store still has {one.kept} rows of it")
        return
    advice = [body for body in one.said if body.startswith(ADVICE)]
    replies = Counter(int(answered[1]) for body in one.said if (answered := _REPLY.match(body)))
    found.comments[len(advice)] += 1
    if len(advice) > 1:
        found.doubled.append(f"{one.name} has {len(advice)} comments")
    for command, times in replies.items():
        if times > 1:
            found.doubled.append(f"{one.name}: the command {command} has {times} replies")
    if missing := one.asked - replies.keys():
        found.lost.append(f"{one.name}: the commands {sorted(missing)} have no reply")
    if problem := _wrong_state(one, advice):
        found.wrong.append(f"{one.name}: {problem}")


def _wrong_state(one: Seen, advice: Sequence[str]) -> str:
    """Why the comment is not in the right state; empty if it is."""
    tale = one.tale
    if tale.swept:
        return "a comment came back that a maintainer had deleted" if advice else ""
    shown = _named(advice[0].partition("<details>")[0]) if advice else set()
    if not tale.settled:
        # The last look may have been at any of its texts, or none: while it was closed or labelled, nobody looks.
        allowed = [set(), *({one.originals[about]} for about in tale.ever if about < 2)]
        return "" if shown in allowed else f"it shows {sorted(shown)}, which it was never about"
    wanted = {one.originals[tale.wanted]} if tale.wanted < 2 else set()
    return "" if shown == wanted else f"it shows {sorted(shown)} instead of {sorted(wanted)}"


def _named(advice: str) -> set[int]:
    """The issues that a comment names unasked; who asks is shown the closest others besides (P6)."""
    unasked = _UNASKED.search(advice)
    return {int(number) for number in (_NAMED.findall(unasked[1]) if unasked else _CANDIDATE.findall(advice))}
