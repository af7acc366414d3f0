"""Fixtures for the index: each test that asks for `index` runs on SQLite and on PostgreSQL."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import pytest
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.search.embedding import unit
from bot.search.index import Index, TextAnalyser
from bot.storage.engine import make_engine


class HashingModel:
    """A model that needs no files: each word has a direction of its own."""

    remote = False

    def __init__(self, name: str = "hashing", dimensions: int = 64) -> None:
        self.name = name
        self.dimensions = dimensions
        self.texts = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += len(texts)
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                row += _direction(f"{self.name} {word}", self.dimensions)
        return unit(rows)


@lru_cache(maxsize=10_000)
def _direction(word: str, dimensions: int) -> NDArray[np.float64]:
    """Kept, since to draw one takes as long as to read a short text, and the same words come again and again."""
    return np.random.default_rng(zlib.crc32(word.encode())).normal(size=dimensions)


@pytest.fixture
def engine(store_url: str) -> Iterator[sa.Engine]:
    engine = make_engine(store_url, patience=10)
    yield engine
    engine.dispose()


@pytest.fixture
def model() -> HashingModel:
    return HashingModel()


@pytest.fixture
def other_model() -> HashingModel:
    return HashingModel("other", dimensions=96)


@pytest.fixture
def index(engine: sa.Engine, model: HashingModel) -> Index:
    return Index(engine, TextAnalyser(), model)
