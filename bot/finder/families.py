"""Candidates that are duplicates themselves lead to the issue in which the discussion belongs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from bot.finder.options import FindOptions
from bot.finder.weighing import Weighed
from bot.model import Issue
from bot.ranking.components import components
from bot.ranking.grouping import resolve
from bot.ranking.presenting import Result, is_own

#: How far a chain of duplicates is followed from the candidates, and how many issues are looked up for it at most.
_STEPS, _MOST = 8, 200

LookUp = Callable[[Collection[int]], tuple[Mapping[int, Issue], Mapping[int, int]]]
"""Issues by number, as far as they can be had, and which of them is a duplicate of which."""


def results(
    target: Issue, ranked: Sequence[tuple[Weighed, float]], options: FindOptions, look_up: LookUp
) -> list[tuple[Result, Weighed]]:
    """What can be shown, in the order of `ranked` (each with its relevance, best first), each group once.

    A group has the best confidence and relevance of its candidates, but for those that may not be told of: that such a
    one resembles the target says nothing for the others. What is no issue of the target's repository stands for itself.
    Beside each result stands the candidate whose reasons it has, a group's best, as they explain its confidence; they
    are worked out when it is known what is shown.
    """
    ranked = [(one, relevance) for one, relevance in ranked if options.may_tell(one.issue, target)]
    own = {one.issue.number: (one, relevance) for one, relevance in ranked if is_own(one.issue, target)}
    ties = {number: one.duplicate_of for number, (one, _) in own.items() if one.duplicate_of}
    issues = {number: one.issue for number, (one, _) in own.items()}
    known, originals = _relatives(issues, ties, options.duplicates, look_up)
    told = {number: issue for number, issue in known.items() if options.may_tell(issue, target)}
    leaders = {number for number, issue in told.items() if options.may_lead(issue)}
    groups = {group.found[0]: group for group in resolve(list(own), originals, told, leaders)}
    shown: list[tuple[Result, Weighed]] = []
    for one, relevance in ranked:
        if not is_own(one.issue, target):
            if options.may_lead(one.issue):
                shown.append((Result(one.issue, one.confidence, relevance, one.sources), one))
        elif group := groups.get(one.issue.number):
            members = [own[number] for number in group.found]
            shown.append((_of_group(told[group.lead], members, group.others), one))
    marked = [(replace(result, named=result.issue.key in options.named), one) for result, one in shown]
    return [(result, one) for result, one in marked if options.show_named or not result.named]


def _of_group(lead: Issue, members: Sequence[tuple[Weighed, float]], others: tuple[int, ...]) -> Result:
    """The one result of a group, by its leading issue; `members` are its candidates, each with its relevance."""
    return Result(
        lead,
        max(member.confidence for member, _ in members),
        max(relevance for _, relevance in members),
        tuple(dict.fromkeys(source for member, _ in members for source in member.sources)),
        also=others,
    )


def _relatives(
    candidates: Mapping[int, Issue], ties: dict[int, int], told: Mapping[int, int], look_up: LookUp
) -> tuple[dict[int, Issue], dict[int, int]]:
    """The candidates with all that they are tied to, and the ties. `told` are ties that people made here."""
    known = dict(candidates)
    asked = set(candidates)
    for _ in range(_STEPS):
        near = _tied(candidates, {**ties, **told})
        wanted = sorted(near - asked)[:_MOST]
        if not wanted:
            break
        asked.update(wanted)
        issues, more = look_up(wanted)
        known.update({number: issue for number, issue in issues.items() if number not in known})
        ties.update(more)
    # What was opened again is a duplicate no more.
    ties = {
        number: of for number, of in {**ties, **told}.items() if number not in known or known[number].state == "closed"
    }
    return known, ties


def _tied(candidates: Collection[int], ties: Mapping[int, int]) -> set[int]:
    of = components(candidates, ties.items())
    groups = {of[number] for number in candidates}
    return {number for number, group in of.items() if group in groups}
