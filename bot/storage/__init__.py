"""What the bot stores, by repository id, on SQLite or PostgreSQL."""

from bot.storage.comments import ADVISORY, ClaimOutcome, CommentState, StoredComment
from bot.storage.repositories import StoredRepository
from bot.storage.store import Store, open_store

__all__ = ["ADVISORY", "ClaimOutcome", "CommentState", "Store", "StoredComment", "StoredRepository", "open_store"]
