"""`close_after`: what the comment announces, and since when (see `bot/closing.py`)."""

from __future__ import annotations

from datetime import datetime

from bot.closing import CERTAIN
from bot.model import Issue
from bot.render import Closing
from bot.report import Candidate
from bot.store.closings import Closings, ClosingState, KeptClosing
from handlers.visit import Visit


def offer(visit: Visit, issue: Issue, named: tuple[Candidate, ...]) -> Closing | None:
    """What the comment says of closing: that it may come, that it came, or nothing."""
    kept = Closings(visit.services.store.engine).get(visit.repository.id, visit.number)
    if kept is not None and kept.state is ClosingState.OVER:
        return None
    if kept is not None and kept.state is ClosingState.CLOSED:
        day = datetime.fromtimestamp(kept.since, visit.services.clock().tzinfo).date()
        return Closing(kept.other, kept.days, day) if issue.state == "closed" else None
    first, days = named[0] if named else None, visit.config.close_after
    if days is None or first is None or not first.own or first.state != "open" or first.number >= issue.number:
        return None
    certain = first.confidence is not None and first.confidence >= CERTAIN
    if not certain or issue.state != "open":
        return None
    return Closing(first.number, days, by_label=visit.config.label != "add")


def remember(visit: Visit, closing: Closing | None) -> None:
    """Note what the comment that stands there now announces. The time counts from the first announcement."""
    store, repo_id = Closings(visit.services.store.engine), visit.repository.id
    kept = store.get(repo_id, visit.number)
    if closing is None:
        store.drop(repo_id, visit.number)
    elif closing.closed is None and (kept is None or (kept.other, kept.days) != (closing.other, closing.days)):
        now = visit.services.now()
        store.put(repo_id, KeptClosing(visit.number, closing.other, closing.days, now, ClosingState.OFFERED))
