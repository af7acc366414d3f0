"""What is said when the database of a replay fails: which one that is, and no address, which can hold a password."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from bot.errors import Unavailable
from bot.store.database.failures import why


@contextmanager
def telling(store: str) -> Iterator[None]:
    """Raise Unavailable in place of SQLAlchemy's errors, and of the system's about the database's file or its folder.

    Whoever writes the answers would take the latter for what is wrong with the file of these. `store` is empty for a
    file of the replay's own.
    """
    try:
        yield
    except (sa.exc.SQLAlchemyError, OSError) as failure:
        if store:
            raise Unavailable(f"the database of --store failed ({why(failure)})") from None
        raise Unavailable(
            f"the replay's index in {_home()} failed ({why(failure)}); TMPDIR names another place"
        ) from None


def _home() -> str:
    # On a full disk there is no folder that can be used.
    try:
        return tempfile.gettempdir()
    except OSError:
        return "a folder for temporary files"
