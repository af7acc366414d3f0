"""Where a replay keeps its issues in a database that others use too: in repositories that GitHub never gives out.

Each replay has ids of its own, so that two at once do not take each other's issues for theirs. They tell when it began:
of one that was killed somebody else can put away what it has left.
"""

from __future__ import annotations

import secrets
import time

import sqlalchemy as sa

from bot.index import Index
from bot.store.tables.index import index_states

#: Bits of an id for the process, and for telling replays apart that begin in the same second.
_PARTS, _APART = 12, 12

#: Seconds after which nobody works on a replay any more. In so long three million issues are asked about.
ABANDONED = 86_400


def new_room() -> int:
    """The id of a replay's first process; those of the others are the next smaller ones."""
    begun = (int(time.time()) << _APART) | secrets.randbits(_APART)
    return -(begun << _PARTS)


def put_away(index: Index, engine: sa.Engine) -> None:
    """Erase what replays have left behind that were killed."""
    last = -((int(time.time()) - ABANDONED) << (_APART + _PARTS))
    left = sa.select(index_states.c.repo_id).where(index_states.c.repo_id < 0, index_states.c.repo_id > last)
    with engine.connect() as connection:
        rooms = connection.execute(left).scalars().all()
    for room in rooms:
        index.forget(room)
