"""Moving everything that is stored from one database to another: from SQLite to PostgreSQL, or back."""

from bot.moving.moving import move, plan

__all__ = ["move", "plan"]
