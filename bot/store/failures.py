"""Why a database failed, in words that hold no secret: a driver's own text can repeat the address with its password, or
what a statement was given, which may be the words of a comment.
"""

from __future__ import annotations

import sqlite3

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
_CODE = 0xFF

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
        # Those of the driver itself, as about a connection that is closed, have no code.
        code = getattr(cause, "sqlite_errorname", "")
        known = _SQLITE.get(getattr(cause, "sqlite_errorcode", 0) & _CODE)
    else:
        code = getattr(cause, "sqlstate", None) or ""
        known = _POSTGRES.get(code) if code or cause is problem else _unconnected(str(cause))
    return known or (f"{kind}, {code}" if code else kind)


def _unconnected(text: str) -> str | None:
    return next((says for words, says in _UNCONNECTED if words in text), None)
