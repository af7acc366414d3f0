"""What was found and the repository's index holds, judged; `outside.py` judges everything else."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from bot.conversation.config.schema import SourceConfig
from bot.domain.entities import Issue
from bot.domain.errors import SourceProblem
from bot.domain.report import MENTION_FROM, QueryRun, Reason, ReasonCode
from bot.search.finder.asking import MOST_COMPARED, Gathered
from bot.search.finder.options import FindOptions
from bot.search.finder.reporting import Result, is_own
from bot.search.index import IndexedIssue
from bot.search.matching import Look, Match
from bot.search.ranking.grouping import components, resolve
from bot.search.sources.choosing import FULL_TEXT, VECTORS
from bot.search.sources.merging import Hit, merge
from bot.search.sources.named import KNOWN_ISSUES, known_run
from bot.search.sources.protocol import Answer


@dataclass(frozen=True, slots=True)
class Weighed:
    """A candidate with its probability. `reasons` are worked out when they are asked for.

    `duplicate_of` is the number of the issue that it was closed in favour of, where the index knows.
    """

    issue: Issue
    confidence: float
    sources: tuple[str, ...]
    reasons: Callable[[], tuple[Reason, ...]]
    duplicate_of: int | None = None


@dataclass(frozen=True, slots=True)
class Inside:
    """What the index answered: candidates, most likely first, and what its sources found, by name.

    `held` are the numbers of all that was found and is in the index, which `candidates` may be fewer than: what ranks
    too low to be compared is judged nowhere, since among others it could seem likelier than what ranks higher.
    """

    candidates: tuple[Weighed, ...] = ()
    held: frozenset[int] = frozenset()
    found: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    runs: tuple[QueryRun, ...] = ()
    problems: tuple[SourceProblem, ...] = ()


def weigh_inside(
    look: Look,
    target: Issue,
    use: Mapping[str, SourceConfig],
    hits: Sequence[Hit],
    known: Sequence[int],
    most: int | None,
) -> Inside:
    """Judge what the index's own sources found, and of the `hits` and the `known` issues those that are in it.

    `most` is how many candidates are read from the index, None for all.
    """
    found, runs = _found_inside(look, target, use, known)
    own = [hit for hit in hits if is_own(hit.issue, target)]
    sources = _sources(found, own)
    compared = set(sources)
    if len(compared) > MOST_COMPARED:
        # Pinned issues are considered whatever else is found.
        compared = _best(look, target, use, found, own) | {*found.get(KNOWN_ISSUES, ())}
    matches = [match for match in look.judge(also=compared) if match.number in compared]
    rows = look.issues([match.number for match in matches[:most]])
    left = look.issues({hit.issue.number for hit in own} - compared)
    return Inside(
        candidates=tuple(
            Weighed(
                as_issue(rows[one.number], target),
                one.confidence,
                sources[one.number],
                partial(said, one),
                rows[one.number].duplicate_of,
            )
            for one in matches[:most]
            if one.number in rows
        ),
        held=frozenset((*(match.number for match in matches), *left)),
        found=found,
        runs=runs,
        problems=tuple(one for one in look.problems if one.source in use),
    )


def together(*lists: Sequence[Weighed]) -> list[Weighed]:
    """Several lists as one, most likely first, each in the order that it had."""
    return list(heapq.merge(*lists, key=lambda one: -one.confidence))


def as_issue(row: IndexedIssue, target: Issue) -> Issue:
    """An issue of the index as GitHub would say it, in the target's repository."""
    home = target.url.rsplit("/", 2)[0]
    return row.issue(target.repo, f"{home}/issues/{row.number}")


def _found_inside(
    look: Look, target: Issue, use: Mapping[str, SourceConfig], known: Sequence[int]
) -> tuple[dict[str, tuple[int, ...]], tuple[QueryRun, ...]]:
    """What the index's own sources found and which of the `known` issues it holds, by source; and what was asked."""
    found = {
        name: tuple(look.found[name][: use[name].limit])
        for name in (FULL_TEXT, VECTORS)
        if name in use and name in look.found
    }
    runs = [run for run in look.runs if run.source in found and run.query.strip()]
    if known and KNOWN_ISSUES in use:
        asked = [number for number in known if number != target.number][: use[KNOWN_ISSUES].limit]
        pinned = look.issues(asked)
        found[KNOWN_ISSUES] = tuple(number for number in asked if number in pinned)
        runs.append(known_run(asked, len(found[KNOWN_ISSUES])))
    return found, tuple(runs)


def _sources(found: Mapping[str, Sequence[int]], own: Sequence[Hit]) -> dict[int, tuple[str, ...]]:
    """H2: every issue with all the sources that found it."""
    sources: dict[int, tuple[str, ...]] = {}
    for name, numbers in found.items():
        for number in numbers:
            sources[number] = (*sources.get(number, ()), name)
    for hit in own:
        sources[hit.issue.number] = (*sources.get(hit.issue.number, ()), *hit.sources)
    return sources


def _best(
    look: Look,
    target: Issue,
    use: Mapping[str, SourceConfig],
    found: Mapping[str, Sequence[int]],
    own: Sequence[Hit],
) -> set[int]:
    """R: more was found than is compared, and the fused ranks of all sources say what is."""
    rows = look.issues({number for numbers in found.values() for number in numbers})
    lists = {
        name: [as_issue(rows[number], target) for number in numbers if number in rows]
        for name, numbers in found.items()
    }
    for hit in own:
        for name in hit.sources:
            lists.setdefault(name, []).append(hit.issue)
    answers = [Answer(name, (tuple(issues),)) for name, issues in lists.items()]
    return {hit.issue.number for hit in merge(answers, target.created_at, use)[:MOST_COMPARED]}


def said(match: Match) -> tuple[Reason, ...]:
    """The reasons (C3); the evidence costs something, and few matches are shown."""
    return match.reasons


def reasons_of(
    shown: Sequence[tuple[Result, Weighed]], best: Sequence[tuple[Result, Weighed]], gathered: Gathered
) -> dict[int, tuple[Reason, ...]]:
    """The reasons of what is shown and of the `best` that nearly is, by the `id` of the result: each costs a look into
    two texts, so that the others go without. What GitHub says (F8a) comes after what the texts say.
    """
    near = [pair for pair in best if pair[0].confidence >= MENTION_FROM]
    explained = {id(result): (one, {one.issue.key, result.issue.key}) for result, one in (*shown, *near)}
    likely = gathered.likely
    return {
        key: (*one.reasons(), *([] if likely.isdisjoint(keys) else [Reason(ReasonCode.GITHUB)]))
        for key, (one, keys) in explained.items()
    }


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
