"""Stores the bot's records by GitHub's repository id, on SQLite or PostgreSQL. The entry point is `open_store`."""

from bot.storage.comments import ADVISORY, ClaimOutcome, CommentState, StoredComment
from bot.storage.repositories import StoredRepository
from bot.storage.store import Store, open_store

__all__ = ["ADVISORY", "ClaimOutcome", "CommentState", "Store", "StoredComment", "StoredRepository", "open_store"]
