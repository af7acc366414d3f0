"""What the bot remembers beyond one webhook, keyed by repository id; SQLite or PostgreSQL."""

import bot.store.closing_tables
import bot.store.decision_tables
import bot.store.evaluation_tables
import bot.store.index_tables
import bot.store.missed_tables
import bot.store.scan_tables  # noqa: F401  (the schema is complete only with the tables of all of them)
from bot.store.comments import ADVISORY, Claim, CommentState, KeptComment
from bot.store.repositories import StoredRepository
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
