"""Comments that the store knows of."""

from __future__ import annotations

from collections.abc import Sequence

from bot.storage import ADVISORY, Store


def note_posted(
    store: Store,
    repo_id: int,
    number: int,
    command_id: int = ADVISORY,
    *,
    comment_id: int,
    text_hash: str = "t",
    body_hash: str | None = None,
    shown: Sequence[int] = (),
    now: float,
) -> bool:
    """Let the store know that a comment was posted, or the one that there is edited, as the writer of comments does."""
    where = (repo_id, number, command_id)
    store.comments.claim(*where, now=now, lease=15)
    kept = store.comments.get(*where)
    assert kept is not None
    return store.comments.settle(
        *where,
        comment_id=comment_id,
        text_hash=text_hash,
        body_hash=body_hash,
        shown=shown,
        now=now,
        since=kept.updated_at,
    )
