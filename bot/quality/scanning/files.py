"""Turns a file of past issues into issues for the index, and hides dates that the file does not have. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from bot.quality.replay.archive import PastIssue
from bot.quality.scanning.pairs import Entry, Group, Result
from bot.search.index import IndexedIssue


def indexed(issues: Sequence[PastIssue]) -> list[IndexedIssue]:
    """The issues, numbered from 1 in order of arrival; one without a time of closing is open."""
    return [
        IndexedIssue(
            number=number,
            title=one.title,
            body=one.body,
            state="closed" if one.closed_at else "open",
            author=one.author,
            labels=one.labels,
            created_at=one.created_at.timestamp(),
            updated_at=one.created_at.timestamp(),
            closed_at=one.closed_at.timestamp() if one.closed_at else None,
        )
        for number, one in enumerate(issues, 1)
    ]


def without_dates(found: Result, undated: Collection[int]) -> Result:
    """The same groups, without the dates of the issues with these numbers."""

    def entry(one: Entry) -> Entry:
        return replace(one, dated=one.number not in undated)

    def group(one: Group) -> Group:
        members = tuple(replace(member, entry=entry(member.entry)) for member in one.members)
        return replace(one, original=entry(one.original), members=members)

    return replace(found, groups=tuple(map(group, found.groups)))
