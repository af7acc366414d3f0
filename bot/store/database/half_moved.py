"""A database that a move (`bot/moving`) has not filled to its end: a part of another, with which nobody works."""

from __future__ import annotations

import sqlalchemy as sa

from bot.store.database.engine import shown

NOTES = "move_notes"
"""The table in which a move notes how far it is. It is there until everything was compared."""


def half_moved(engine: sa.Engine) -> str:
    """Why a database may not be worked with, and what helps; empty where no move to it is under way or was broken off.

    What was written there meanwhile would not be what the other has, and the move could not be ended any more.
    """
    if not sa.inspect(engine).has_table(NOTES):
        return ""
    name = shown(engine.url.render_as_string(hide_password=False))
    return f"{name}: a move there has not ended; repeat `doppel migrate-store`, which goes on where it was, or empty it"
