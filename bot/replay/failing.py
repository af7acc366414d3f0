"""What is said when the database of a replay fails: which one that is, and no address, which can hold a password."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from bot.errors import Unavailable
from bot.store.failures import why


@contextmanager
def telling(store: str) -> Iterator[None]:
    """Raise Unavailable in place of SQLAlchemy's errors; `store` is empty for a file of the replay's own."""
    try:
        yield
    except sa.exc.SQLAlchemyError as failure:
        if store:
            raise Unavailable(f"the database of --store failed ({why(failure)})") from None
        home = tempfile.gettempdir()
        raise Unavailable(f"the replay's index in {home} failed ({why(failure)}); TMPDIR names another place") from None
