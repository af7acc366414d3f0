"""What the bot stores, by repository id, on SQLite or PostgreSQL."""

from bot.store.parts.comments import ADVISORY, Claim, CommentState, KeptComment
from bot.store.parts.repositories import StoredRepository
from bot.store.store import Store, open_store

__all__ = [
    "ADVISORY",
    "Claim",
    "CommentState",
    "KeptComment",
    "Store",
    "StoredRepository",
    "open_store",
]
