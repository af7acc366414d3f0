"""Fixtures for matching: each test that asks for `index` runs on SQLite and on PostgreSQL."""

from tests.index.conftest import engine, index, model

__all__ = ["engine", "index", "model"]
