"""What an earlier version of the analyser has read otherwise."""

from __future__ import annotations

import numpy as np
import sqlalchemy as sa

from bot.index.database import fetch
from bot.index.postings import vocabulary
from bot.index.postings.batch import Batch
from bot.store.tables.index import indexed_terms


def read_otherwise(connection: sa.Connection, repo_id: int, batch: Batch) -> list[int]:
    """The numbers of those issues of a batch whose stored terms are others."""
    known = vocabulary.look_up(connection, repo_id, batch.hashes.tolist())
    # No stored term has the number 0: with a new one, no issue is equal to what is stored.
    numbered = np.array([known.get(value, 0) for value in batch.hashes.tolist()], dtype=np.int64)
    packed = batch.entries(numbered)[2]
    numbers = batch.numbers.tolist()
    columns = (indexed_terms.c.number, indexed_terms.c.terms)
    stored = dict(fetch(connection, repo_id, columns, indexed_terms.c.number, numbers))
    return [number for number, terms in zip(numbers, packed, strict=True) if stored.get(number) != terms]
