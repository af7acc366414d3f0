"""An index that lives as long as it is used: for replays, demos and measurements."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.embedding import Embedder
from bot.index.analysis.protocol import Analyser
from bot.index.index import Index
from bot.store.database.engine import make_engine
from bot.store.tables.schema import metadata


@contextmanager
def ephemeral_index(
    analyser: Analyser, embedder: Embedder | None = None, within: Path | None = None
) -> Iterator[Index]:
    """An empty index in an SQLite file of its own, which is deleted afterwards; nothing waits for the disk.

    The file is made in the folder `within`, by default the system's for temporary files.
    """
    with tempfile.TemporaryDirectory(prefix="doppel-", dir=within) as directory:
        engine = make_engine(f"sqlite:///{Path(directory) / 'index.db'}", synchronous="OFF")
        try:
            # What all migrations come to, without going through each of them.
            metadata.create_all(engine)
            yield Index(engine, analyser, embedder)
        finally:
            engine.dispose()
