"""A file of issues in the shared format, as the index takes it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.index import IndexedIssue
from bot.replay.archive import PastIssue


def indexed(issues: Sequence[PastIssue]) -> list[IndexedIssue]:
    """The issues with numbers from 1 in order of arrival, open where no time of closing is known."""
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
