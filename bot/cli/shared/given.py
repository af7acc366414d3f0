"""What is said when a database fails that an option gave: the host's own, of which `main` tells, is another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from bot.errors import Unavailable
from bot.store.database.failures import why


@contextmanager
def told_of_option(option: str) -> Iterator[None]:
    """Raise Unavailable in place of SQLAlchemy's errors, with the option and no address, which can hold a password."""
    try:
        yield
    except sa.exc.SQLAlchemyError as failure:
        raise Unavailable(f"the database of {option} failed ({why(failure)})") from None
