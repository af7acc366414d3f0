"""What an earlier version of the analyser has read otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import sqlalchemy as sa

from bot.index import vocabulary
from bot.index.analysis import Analysis, Field
from bot.index.batch import Batch
from bot.index.database import fetch
from bot.store.index_tables import indexed_terms

# A number that no term has: nothing that is stored is equal to it.
_NEW = 0


def read_otherwise(
    connection: sa.Connection, repo_id: int, fields: Sequence[Field], analyses: Mapping[int, Analysis]
) -> dict[int, Analysis]:
    """Those of a repository's issues, by number, whose stored terms are not those of the analyses."""
    batch = Batch(fields, analyses)
    known = vocabulary.look_up(connection, repo_id, batch.hashes.tolist())
    numbered = np.array([known.get(value, _NEW) for value in batch.hashes.tolist()], dtype=np.int64)
    packed = batch.entries(numbered)[2]
    columns = (indexed_terms.c.number, indexed_terms.c.terms)
    stored = dict(fetch(connection, repo_id, columns, indexed_terms.c.number, analyses))
    return {n: analyses[n] for n, terms in zip(batch.numbers.tolist(), packed, strict=True) if stored.get(n) != terms}
