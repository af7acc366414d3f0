"""Moving everything that is stored from one database to another: from SQLite to PostgreSQL, or back."""

from bot.moving.moving import Moved, Plan, Tell, move, plan

__all__ = ["Moved", "Plan", "Tell", "move", "plan"]
