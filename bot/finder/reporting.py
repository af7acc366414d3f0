"""What a report says of the asking itself: how it went (F9), and how much was found (H4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from bot.finder.asking import Gathered
from bot.model import Issue, IssueRef
from bot.remarks import Failed
from bot.report import Outcome, QueryRun
from bot.sources.choosing import FULL_TEXT
from bot.sources.github import GitHubLexical
from bot.sources.merging import collapsed


def outcome(runs: Sequence[QueryRun], problems: Sequence[Failed], *, found: bool, usable: bool) -> Outcome:
    """F9: an outage or a question that could not be asked is never presented as "no duplicates".

    Where the repository's own index has answered, that a search of GitHub was incomplete makes nothing doubtful.
    `usable` says whether there was a word to ask for at all.
    """
    if problems:
        return Outcome.DEGRADED
    if found:
        return Outcome.FOUND
    if any(run.source == FULL_TEXT for run in runs):
        return Outcome.NONE
    asked = usable and bool(runs)
    return Outcome.NONE if asked and not any(run.incomplete for run in runs) else Outcome.INCONCLUSIVE


def search_query(runs: Sequence[QueryRun]) -> str:
    """F7: the query that stands for all: GitHub's first one by words, else the first there is."""
    first = [run.query for run in runs if run.source == GitHubLexical.name] or [run.query for run in runs]
    return first[0] if first else ""


def counted(
    inside: Mapping[str, Sequence[int]], gathered: Gathered, target: Issue, only: Collection[str] = ()
) -> dict[str, int]:
    """How many results there were in all, how many different ones, how many repeated others, and by source.

    `inside` are the numbers that the index's sources found in the target's repository. With `only` what these sources
    found is counted (H4).
    """
    inside = {name: numbers for name, numbers in inside.items() if not only or name in only}
    answers = [answer for answer in gathered.answers if not only or answer.source in only]
    hits = [hit for hit in collapsed(gathered.hits) if not only or not set(only).isdisjoint(hit.sources)]
    total = sum(map(len, inside.values())) + sum(len(found) for answer in answers for found in answer.lists)
    different = {IssueRef(target.repo, number).key for numbers in inside.values() for number in numbers}
    different.update(hit.issue.key for hit in hits)
    by_source = Counter({name: len(set(numbers)) for name, numbers in inside.items()})
    # What was not asked, or did not answer in time, has not found nothing.
    by_source.update({answer.source: 0 for answer in answers if answer.runs})
    by_source.update(source for hit in hits for source in hit.sources if not only or source in only)
    return {"total": total, "unique": len(different), "duplicates": total - len(different), **by_source}
