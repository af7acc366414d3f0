"""Why a database failed, and whether that passes by itself.

In words that hold no secret: a driver's own text can repeat the address with its password, or what a statement was
given, which may be the words of a comment.
"""

from __future__ import annotations

import sqlite3

import sqlalchemy as sa

# SQLite's result codes (https://www.sqlite.org/rescode.html), without their extension in the higher bits.
_SQLITE = {
    5: "another process keeps it locked",
    6: "another process keeps it locked",
    8: "it is read-only",
    10: "its disk fails to read or write",
    11: "the file is damaged; restore a backup",
    13: "its disk is full",
    14: "the file cannot be opened",
    26: "the file is not an SQLite database",
}
# Those of them that pass by themselves, and 7, where memory is short. SQL that is wrong has the code 1.
_SQLITE_PASSES = {5, 6, 7, 8, 10, 13, 14}

# PostgreSQL's codes ("PostgreSQL Error Codes" in its manual).
_POSTGRES = {
    "25006": "it is read-only",
    "42501": "this role lacks a right",
    "53100": "the server's disk is full",
    "53300": "the server has too many connections",
    "55P03": "another process keeps it locked",
    "57P01": "the server has been stopped",
    "57P02": "the server has crashed",
    "57P03": "the server is starting or stopping",
    "XX001": "the server's files are damaged; restore a backup",
    "XX002": "the server's files are damaged; restore a backup",
}

# Of these what a server answers after a failover or with its disk nearly full, and where a host takes the right to
# insert from who has used up their plan; what cuts a connection is told otherwise.
_POSTGRES_PASSES = {"25006", "42501"}

# What the driver says where there is no code, since no connection was made; a server may do so in another language.
_UNCONNECTED = (
    ("Connection refused", "nothing listens there"),
    ("No such file or directory", "nothing listens there"),
    ("failed to resolve host", "no host of this name is known"),
    ("timeout expired", "the server does not answer"),
    ("password authentication failed", "the server refuses this user or password"),
    ("no password supplied", "the server wants a password"),
    ("no pg_hba.conf entry", "the server does not let this user in from here: see its pg_hba.conf"),
    ("does not exist", "the server has no such database or user"),
    ("too many clients", "the server has too many connections"),
    ("starting up", "the server is starting or stopping"),
    ("shutting down", "the server is starting or stopping"),
    ("closed the connection", "the server has cut the connection"),
)


def why(problem: BaseException) -> str:
    """The reason of a failure that SQLAlchemy, a driver or the system has told, for people; if none is known, its kind.

    Pure. Names neither addresses nor files.
    """
    cause = getattr(problem, "orig", None) or problem
    kind = type(cause).__name__
    if isinstance(cause, OSError):
        return cause.strerror or kind
    if isinstance(cause, sqlite3.Error):
        code = getattr(cause, "sqlite_errorname", "")
        known = _SQLITE.get(_code(cause))
    else:
        code = getattr(cause, "sqlstate", None) or ""
        known = _POSTGRES.get(code) if code or cause is problem else _unconnected(str(cause))
    return known or (f"{kind}, {code}" if code else kind)


def passes(error: BaseException) -> bool:
    """Whether the same may succeed later, as with GitHub's own outages: the database is away, full, locked or takes no
    writes, and nothing is wrong with what was asked of it. Pure.
    """
    if isinstance(error, sa.exc.TimeoutError):
        # No connection of the pool came free in time.
        return True
    if not isinstance(error, sa.exc.DBAPIError):
        return False
    cause = error.orig
    if isinstance(cause, sqlite3.Error):
        return _code(cause) in _SQLITE_PASSES
    if error.connection_invalidated or getattr(cause, "sqlstate", None) in _POSTGRES_PASSES:
        return True
    return isinstance(error, sa.exc.OperationalError | sa.exc.InterfaceError)


def is_locked(error: BaseException | None) -> bool:
    """Whether SQLite has waited in vain for another process. Pure."""
    cause = getattr(error, "orig", None) or error
    return isinstance(cause, sqlite3.Error) and _code(cause) == sqlite3.SQLITE_BUSY


def _code(error: sqlite3.Error) -> int:
    """The result code without its extension; 0 for errors of the driver's own, as about a connection that is closed."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _unconnected(text: str) -> str | None:
    return next((says for words, says in _UNCONNECTED if words in text), None)
