"""What the bot remembers beyond one webhook, keyed by repository id; SQLite or PostgreSQL."""

from bot.store.posted import PostedComment, PostedState
from bot.store.replies import Reply
from bot.store.repositories import StoredRepository
from bot.store.store import Store, open_store
from bot.store.texts import StoredText
from bot.store.verdicts import Verdict, VerdictKind

__all__ = [
    "PostedComment",
    "PostedState",
    "Reply",
    "Store",
    "StoredRepository",
    "StoredText",
    "Verdict",
    "VerdictKind",
    "open_store",
]
