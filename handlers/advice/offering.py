"""`close_after`: what the comment announces, and since when (see `handlers/closing/rule.py`)."""

from __future__ import annotations

from datetime import datetime

from bot.errors import NotFound
from bot.likelihood import Likelihood, likelihood
from bot.model import Comment, Issue
from bot.render import Closing
from bot.report import Candidate
from bot.store.parts.closings import ClosingState, KeptClosing
from handlers.visit import Visit


def offer(visit: Visit, issue: Issue, named: tuple[Candidate, ...]) -> Closing | None:
    """What the comment says of closing: that it may come, that it came, or nothing."""
    kept = visit.kept_closing()
    if kept is not None and kept.state is ClosingState.OVER:
        return None
    if kept is not None and kept.state is ClosingState.CLOSED:
        holds = visit.services.store.verdicts.original(visit.repository.id, visit.number) == kept.other
        day = datetime.fromtimestamp(kept.since, visit.services.clock().tzinfo).date()
        # It may have been opened since, and closed again by a hand and otherwise.
        return Closing(kept.other, kept.days, day) if holds and issue.state == "closed" else None
    closing = _offered(visit, issue, named)
    if kept is not None and _differs(kept, closing) and _objected(visit, kept):
        # A later offer counts from its own time, and would know nothing of what was said to this one.
        visit.services.store.closings.end(visit.repository.id, kept)
        return None
    return closing


def _offered(visit: Visit, issue: Issue, named: tuple[Candidate, ...]) -> Closing | None:
    """What is offered where nothing that was before forbids it."""
    first, days = named[0] if named else None, visit.config.close_after
    if days is None or first is None or not first.own or first.state != "open" or first.number >= issue.number:
        return None
    word = likelihood(first.confidence or 0.0, visit.config.likely)
    if word is not Likelihood.VERY_LIKELY or issue.state != "open":
        return None
    return Closing(first.number, days, by_label=visit.config.label != "add")


def remember(visit: Visit, closing: Closing | None) -> None:
    """Note what the comment that stands there now announces. The time counts from the first announcement."""
    store, repo_id = visit.services.store.closings, visit.repository.id
    kept = visit.kept_closing()
    if closing is None:
        if kept is not None:
            store.drop(repo_id, visit.number)
    elif closing.closed is None and (kept is None or _differs(kept, closing)):
        since = _written(visit)
        store.put(repo_id, KeptClosing(visit.number, closing.other, closing.days, since, ClosingState.OFFERED))


def _differs(kept: KeptClosing, closing: Closing | None) -> bool:
    return closing is None or (kept.other, kept.days) != (closing.other, closing.days)


def _objected(visit: Visit, kept: KeptClosing) -> bool:
    return any(objects(one, kept.since) for one in visit.github.comments(visit.repo, visit.number))


def objects(comment: Comment, since: float) -> bool:
    """Whether a comment prevents the closing: any of a person's since the announcement does."""
    # GitHub tells whole seconds; what stands in the same one as the announcement counts too.
    return comment.created_at.timestamp() >= int(since) and not comment.author.is_bot


def _written(visit: Visit) -> float:
    """When the comment got the text that it has, by GitHub's clock: what people say to it is compared with that."""
    comment = visit.kept_comment()
    try:
        if comment is not None and comment.comment_id is not None:
            return visit.github.comment(visit.repo, comment.comment_id).updated_at.timestamp()
    except NotFound:
        # It was deleted this moment, by which the offer is over.
        pass
    return visit.services.now()
