"""What is said when an index in a temporary file fails: the host's own database, of which `main` tells, is another."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from bot.errors import Unavailable
from bot.store.database.failures import why


@contextmanager
def told_of_temporary_index() -> Iterator[None]:
    """Raise Unavailable in place of SQLAlchemy's errors, with the folder that is meant and how to have another."""
    try:
        yield
    except sa.exc.SQLAlchemyError as failure:
        raise Unavailable(
            f"the index in {tempfile.gettempdir()} failed ({why(failure)}); TMPDIR names another place"
        ) from None
