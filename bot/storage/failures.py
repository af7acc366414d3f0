"""Says why a database failed, in words without secrets, and whether a retry may succeed.

A driver's own text can repeat the address with its password, or people's texts among a statement's parameters.
"""

from __future__ import annotations

import sqlite3

import sqlalchemy as sa

# Reasons by SQLite's primary result codes (https://www.sqlite.org/rescode.html), which `_code` reads.
_SQLITE_REASONS = {
    5: "another process keeps it locked",
    6: "this process keeps it locked",
    8: "it is read-only",
    10: "its disk fails to read or write",
    11: "the file is damaged; restore a backup",
    13: "its disk is full",
    14: "the file cannot be opened",
    26: "the file is not an SQLite database",
}
# SQLite's codes of failures after which a retry may succeed; 7 is out of memory.
_SQLITE_TEMPORARY = {5, 6, 7, 8, 10, 13, 14}

# PostgreSQL's code for a lock that was not free in time.
_LOCK_TIMEOUT = "55P03"

# Reasons by PostgreSQL's codes ("PostgreSQL Error Codes" in its manual).
_POSTGRES_REASONS = {
    "25006": "it is read-only",
    "42501": "this role lacks a right",
    "53100": "the server's disk is full",
    "53300": "the server has too many connections",
    _LOCK_TIMEOUT: "another process keeps it locked",
    "57P01": "the server has been stopped",
    "57P02": "the server has crashed",
    "57P03": "the server is starting or stopping",
    "XX001": "the server's files are damaged; restore a backup",
    "XX002": "the server's files are damaged; restore a backup",
}

# Failures after which a retry may succeed, although psycopg raises no OperationalError for them. Hosts make a database
# read-only or take rights away for a time: after a failover, on a nearly full disk, or when a quota is used up.
_POSTGRES_TEMPORARY = {"25006", "42501"}

# A failed connect has no code, so parts of the driver's text tell the reason. Only English texts are recognised.
_CONNECT_REASONS = (
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
    """A failure's plain reason, without addresses or files; if unknown, its type and code. Pure."""
    if isinstance(problem, sa.exc.TimeoutError):
        return "all its connections are busy"
    # SQLAlchemy's errors have the driver's error as `orig`.
    cause = getattr(problem, "orig", None) or problem
    kind = type(cause).__name__
    if isinstance(cause, OSError):
        return cause.strerror or kind
    if isinstance(cause, sqlite3.Error):
        code = getattr(cause, "sqlite_errorname", "")
        known = _SQLITE_REASONS.get(_code(cause))
    else:
        code = getattr(cause, "sqlstate", None) or ""
        known = _POSTGRES_REASONS.get(code)
        if not code and cause is not problem:
            known = next((reason for words, reason in _CONNECT_REASONS if words in str(cause)), None)
    return known or (f"{kind}, {code}" if code else kind)


def may_pass(error: BaseException) -> bool:
    """Whether a retry may succeed: the database is away, full, locked or read-only. Pure."""
    if isinstance(error, sa.exc.TimeoutError):
        # The pool had no free connection in time.
        return True
    if not isinstance(error, sa.exc.DBAPIError):
        return False
    cause = error.orig
    if isinstance(cause, sqlite3.Error):
        return _code(cause) in _SQLITE_TEMPORARY
    if error.connection_invalidated or getattr(cause, "sqlstate", None) in _POSTGRES_TEMPORARY:
        return True
    return isinstance(error, sa.exc.OperationalError | sa.exc.InterfaceError)


def is_locked(error: BaseException | None) -> bool:
    """Whether the database gave up waiting for another process's lock. Pure."""
    cause = getattr(error, "orig", None) or error
    busy = isinstance(cause, sqlite3.Error) and _code(cause) == sqlite3.SQLITE_BUSY
    return busy or getattr(cause, "sqlstate", None) == _LOCK_TIMEOUT


def _code(error: sqlite3.Error) -> int:
    """The primary result code, the low eight bits. 0 for an error of the driver itself, such as a closed connection."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
