"""Installation tokens that all processes share, sealed with a key that only the App's private key gives.

Each process could ask for tokens of its own, but GitHub's ETags differ from token to token: what one worker has read
would be of no use to another (T6). Who can read the database without the private key learns nothing here.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable
from typing import TypeVar

import sqlalchemy as sa
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from bot.store.database.engine import write
from bot.store.database.failures import why
from bot.store.parts.base import Part
from bot.store.tables.schema import tokens

T = TypeVar("T")

log = logging.getLogger(__name__)


class SealedTokens(Part):
    """The `tokens` table: one token a scope. No method raises: without the database each process has its own."""

    def __init__(self, engine: sa.Engine, private_key: str) -> None:
        super().__init__(engine)
        derived = HKDF(hashes.SHA256(), 32, salt=None, info=b"doppel installation tokens").derive(private_key.encode())
        self._seal = Fernet(base64.urlsafe_b64encode(derived))

    def get(self, scope: str, now: float) -> tuple[str, float] | None:
        """The token of a scope and when it expires, both by seconds since 1970; None where there is no good one."""

        def read() -> tuple[str, float] | None:
            query = sa.select(tokens.c.sealed, tokens.c.expires_at).where(
                tokens.c.scope == scope, tokens.c.expires_at > now
            )
            row = self._first(query)
            return None if row is None else (self._seal.decrypt(row.sealed).decode(), row.expires_at)

        return _safely(read)

    def put(self, scope: str, token: str, expires_at: float, now: float) -> None:
        """Keep a token in place of the one before; those that have expired go."""

        def keep() -> None:
            values = {"sealed": self._seal.encrypt(token.encode()), "expires_at": expires_at}
            with write(self._engine) as connection:
                connection.execute(self._upsert(tokens, {"scope": scope}, values))
                connection.execute(sa.delete(tokens).where(tokens.c.expires_at <= now))

        _safely(keep)

    def drop(self, scope: str) -> None:
        """The token of this scope is no good, nor are those of a part of it: of one repository of an installation."""

        def delete() -> None:
            self._change(sa.delete(tokens).where((tokens.c.scope == scope) | tokens.c.scope.startswith(f"{scope} ")))

        _safely(delete)


def _safely(work: Callable[[], T]) -> T | None:
    """What `work` gives; None, and a line in the log, where the database fails or another key has sealed."""
    try:
        return work()
    except (sa.exc.SQLAlchemyError, InvalidToken) as problem:
        log.warning("tokens are not shared for now: %s", why(problem))
        return None
