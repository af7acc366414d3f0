"""A comment of a bot's that a person deleted (C2)."""

from __future__ import annotations

from bot.events import CommentEvent
from bot.posts.marker import answered_by
from bot.services import Services
from handlers.visit import visiting


def comment_deleted(event: CommentEvent, services: Services) -> None:
    """A person deleted a comment of a bot's: if it was ours, it is never posted again.

    Where GitHub's answer to the first had been lost, another may have been written in its place before this was heard
    of. That one is taken back.
    """
    # Anybody can write a marker.
    place = answered_by(event.body) if event.app == services.settings.app_id else None
    comments, where = services.store.comments, (event.repository.id, event.number)
    if place is not None and comments.get(*where, place) is None:
        # All that was known may have gone with the issue, of which nothing is noted then: NotFound ends this.
        with visiting(event, services) as visit:
            if visit is not None:
                visit.github.issue(visit.repo, visit.number)
    comments.mark_deleted(*where, event.comment_id, services.now(), place)
    kept = None if place is None else comments.get(*where, place)
    # Of two that there are the older is kept; so a younger one was written when this was gone.
    if kept is not None and kept.comment_id is not None and kept.comment_id > event.comment_id:
        comments.mark_deleted(*where, kept.comment_id, services.now())
        with visiting(event, services) as visit:
            if visit is not None:
                visit.github.delete_comment(visit.repo, kept.comment_id)
