"""What the bot stores, by repository id, on SQLite or PostgreSQL."""

from bot.storage.comments import ADVISORY, Claim, CommentState, KeptComment
from bot.storage.repositories import StoredRepository
from bot.storage.store import Store, open_store

__all__ = [
    "ADVISORY",
    "Claim",
    "CommentState",
    "KeptComment",
    "Store",
    "StoredRepository",
    "open_store",
]
