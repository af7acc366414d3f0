"""What the bot queues for itself on an issue: actions of `issues` that GitHub does not have and no delivery brings."""

from __future__ import annotations

from bot.events.types import IssueEvent
from bot.model import Actor, Repository

JUDGED = "judged"
"""On another issue it was decided, or taken back, that the two differ."""

OVERTAKEN = "overtaken"
"""An earlier issue, which it repeats, came in after it was looked at."""

INDEXED = "indexed"
"""The index is complete, which it was not when nothing was found to name on it."""

OWN_ACTIONS = frozenset({JUDGED, OVERTAKEN, INDEXED})


def own_issue_event(
    action: str, installation: int | None, repository: Repository, number: int, login: str = ""
) -> IssueEvent:
    """The event of one of these actions; `login` is the person whose command led to it, empty where nobody's did."""
    return IssueEvent(action, installation, repository, number, Actor(login), Actor(login))
