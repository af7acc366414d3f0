"""Which failures of a database pass by themselves: it is away, full, locked or takes no writes, and nothing is wrong
with what was asked of it.
"""

from __future__ import annotations

import sqlite3

import sqlalchemy as sa

# Of SQLite's result codes (https://www.sqlite.org/rescode.html), without their extension in the higher bits: BUSY,
# LOCKED, NOMEM, READONLY, IOERR, FULL, CANTOPEN. SQL that is wrong is an OperationalError there as well, of code 1.
_SQLITE = {5, 6, 7, 8, 10, 13, 14}
_CODE = 0xFF
# PostgreSQL's "read only SQL transaction", which a server answers after a failover or with its disk nearly full, and
# "insufficient privilege", as where a host takes the right to insert from who has used up their plan.
_POSTGRES = {"25006", "42501"}


def passes(error: BaseException) -> bool:
    """Whether the same may succeed later, as with GitHub's own outages."""
    if isinstance(error, sa.exc.TimeoutError):
        # No connection of the pool came free in time.
        return True
    if not isinstance(error, sa.exc.DBAPIError):
        return False
    cause = error.orig
    if isinstance(cause, sqlite3.Error):
        return getattr(cause, "sqlite_errorcode", 0) & _CODE in _SQLITE
    if error.connection_invalidated or getattr(cause, "sqlstate", None) in _POSTGRES:
        return True
    return isinstance(error, sa.exc.OperationalError | sa.exc.InterfaceError)
