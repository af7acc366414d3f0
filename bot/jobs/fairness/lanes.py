"""Which lane of the queue a job waits in: what keeps one installation from taking all the others' turns.

DBOS takes from partitions drawn by lot, one job of a partition at a time. Were every issue a partition, an installation
with thousands of waiting issues would win nearly every draw. So each installation has a few lanes, its issues are
spread over them, and the draw is between lanes: how much one sends changes how long it waits itself, and hardly how
long the others do. The work of an issue stays in order, since it is always in the same lane. To bound by the number of
queues what one sender gets is McKenney's idea ("Stochastic Fairness Queueing", 1990).
"""

from __future__ import annotations

from bot.events import (
    BACKGROUND,
    REPLAY,
    CommentEvent,
    EvaluationEvent,
    Event,
    IndexEvent,
    IssueEvent,
    ScanEvent,
    from_json,
)
from bot.jobs.queue.job import Message

LANES = 8
"""How many jobs of one installation are at work at once, on all workers together."""


def lane_of(event: Event) -> str:
    """The lane of an event; an issue's is the same whatever happens to it."""
    match event:
        case IssueEvent() | CommentEvent():
            return f"{_account(event)}/{event.number % LANES}"
        case EvaluationEvent():
            return f"{REPLAY}{_account(event)}/{event.repository.id % LANES}"
        case IndexEvent() | ScanEvent():
            return f"{BACKGROUND}{_account(event)}/{event.repository.id % LANES}"
        case _:
            # So few that they need no lanes; and that an installation was deleted must not wait for its issues.
            return event.partition


def lane_of_text(text: str, otherwise: str) -> str:
    """The lane of an event in JSON, or `otherwise` where this version cannot read it."""
    try:
        return lane_of(from_json(text))
    except (ValueError, LookupError, TypeError, AttributeError):
        return otherwise


def restored(delivery_id: str, run: int, failures: int, arrived: int, partition: str, text: str) -> Message:
    """The message from what its workflow was given, which is all but its lane."""
    return Message(delivery_id, run, failures, arrived, partition, text, lane_of_text(text, partition))


def owner_of(lane: str) -> str:
    """Whose lane it is: all of an installation's have the same owner."""
    return lane.partition("/")[0]


def _account(event: IssueEvent | CommentEvent | IndexEvent | ScanEvent | EvaluationEvent) -> str:
    return f"repository-{event.repository.id}" if event.installation is None else str(event.installation)
