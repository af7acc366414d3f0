"""Answers of GitHub with their ETags, shared by all processes (T6). See `bot/github/http/conditional.py`."""

from __future__ import annotations

import json
import logging
import time
import zlib
from collections.abc import Callable

import sqlalchemy as sa

from bot.github.http.memory import Question, Remembered
from bot.store.database.engine import write
from bot.store.database.failures import why
from bot.store.parts.base import Part
from bot.store.tables.schema import etags, repositories

log = logging.getLogger(__name__)

KEPT = 7 * 24 * 3600.0
"""Seconds after which an answer goes, whether it is asked for or not."""


class Etags(Part):
    """The `etags` table. Only of repositories that the store knows, so that what is kept can be erased with them."""

    def __init__(self, engine: sa.Engine, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives seconds since 1970."""
        super().__init__(engine)
        self._clock = clock

    def get(self, question: Question) -> Remembered | None:
        """The answer that was last kept; None also where the database fails."""
        query = (
            sa.select(etags.c.headers, etags.c.body)
            .join(repositories, repositories.c.repo_id == etags.c.repo_id)
            .where(
                repositories.c.lookup == question.repo.key,
                etags.c.account == question.account,
                etags.c.url == question.url,
            )
            # For a while two repositories can go by one name.
            .order_by(repositories.c.updated_at.desc())
            .limit(1)
        )
        try:
            row = self._first(query)
        except sa.exc.SQLAlchemyError as problem:
            log.warning("the kept answers cannot be read: %s", why(problem))
            return None
        return None if row is None else Remembered(json.loads(row.headers), zlib.decompress(row.body))

    def put(self, question: Question, answer: Remembered) -> None:
        """Keep an answer in place of the one before; what is too old goes. A failure is logged and nothing else."""
        now = self._clock()
        known = (
            sa.select(repositories.c.repo_id)
            .where(repositories.c.lookup == question.repo.key)
            .order_by(repositories.c.updated_at.desc())
            .limit(1)
            # On PostgreSQL it stays until the answer is written, or `Store.forget` has begun and is waited for. Whoever
            # is at work elsewhere asks about it as well (settings of the owner, siblings), and nobody would clean up.
            .with_for_update(read=True, key_share=True)
        )
        values = {
            "number": question.number,
            "headers": json.dumps(dict(answer.headers)),
            "body": zlib.compress(answer.body),
            "stored_at": now,
        }
        try:
            with write(self._engine) as connection:
                repo_id = connection.execute(known).scalar()
                if repo_id is None:
                    return
                key = {"repo_id": repo_id, "account": question.account, "url": question.url}
                connection.execute(self._upsert(etags, key, values))
                old = sa.and_(etags.c.repo_id == repo_id, etags.c.stored_at < now - KEPT)
                connection.execute(sa.delete(etags).where(old))
        except sa.exc.SQLAlchemyError as problem:
            log.warning("an answer could not be kept: %s", why(problem))

    def prune(self) -> int:
        """Drop what is too old also where nothing new is kept; how many answers."""
        return self._change(sa.delete(etags).where(etags.c.stored_at < self._clock() - KEPT))
