"""Indexes that live as long as they are used: for replays, demos and measurements, and for what no index holds."""

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
    """An empty index in an SQLite file of its own, which is deleted afterwards; nothing waits for the disk.

    The file is made in the folder `within`, by default the system's for temporary files.
    """
    with tempfile.TemporaryDirectory(prefix="doppel-", dir=within) as directory:
        engine = make_engine(f"sqlite:///{Path(directory) / 'index.db'}", synchronous="OFF")
        try:
            # What all migrations come to, without going through each of them.
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
    """An empty index for a few hundred issues and one thread, which takes a few milliseconds to make."""
    engine = memory_engine()
    try:
        tables = [table for table in metadata.sorted_tables if table.info.get("index")]
        metadata.create_all(engine, tables, checkfirst=False)
        yield Index(engine, analyser, embedder, about, text_model=text_model)
    finally:
        engine.dispose()
