"""Temporary indexes: for replays, measurements, and finds in repositories that have no index."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.embedding import Embedder
from bot.index.analysis import About, TextAnalyser
from bot.index.index import Index
from bot.store.database.engine import make_engine
from bot.store.database.sqlite import memory_engine
from bot.store.tables.schema import metadata


@contextmanager
def ephemeral_index(
    analyser: TextAnalyser,
    embedder: Embedder | None = None,
    within: Path | None = None,
    text_model: Embedder | None = None,
) -> Iterator[Index]:
    """An empty index in a temporary SQLite file, which is deleted afterwards; writes do not wait for the disk.

    The file is in the folder `within`, by default the system's folder for temporary files.
    """
    with tempfile.TemporaryDirectory(prefix="doppel-", dir=within) as directory:
        engine = make_engine(f"sqlite:///{Path(directory) / 'index.db'}", synchronous="OFF")
        try:
            metadata.create_all(engine)
            yield Index(engine, analyser, embedder, text_model=text_model)
        finally:
            engine.dispose()


@contextmanager
def index_in_memory(
    analyser: TextAnalyser,
    embedder: Embedder | None = None,
    about: About | None = None,
    text_model: Embedder | None = None,
) -> Iterator[Index]:
    """An empty index in memory, for a few hundred issues and one thread. It is made in a few milliseconds."""
    engine = memory_engine()
    try:
        tables = [table for table in metadata.sorted_tables if table.info.get("index")]
        metadata.create_all(engine, tables, checkfirst=False)
        yield Index(engine, analyser, embedder, about, text_model=text_model)
    finally:
        engine.dispose()
