"""What happened to an issue, as GitHub keeps it.

https://docs.github.com/rest/issues/events
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from bot.github.api.calls import Api
from bot.model import RepoRef

_MOST_EVENTS = 2_000


def issue_events(api: Api, repo: RepoRef, number: int) -> Iterator[Any]:
    """All events of an issue as GitHub tells them, the oldest first, 2,000 at most. Raises NotFound."""
    return api.pages(
        f"read the events of {repo}#{number}",
        partial(api.rest.issues.list_events, repo.owner, repo.name, number),
        most=_MOST_EVENTS,
    )
