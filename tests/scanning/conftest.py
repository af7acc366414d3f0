"""Fixtures for the scan: each test that asks for `index` runs on SQLite and on PostgreSQL."""

from tests.embeddings import text_model
from tests.index.conftest import engine, index, model, other_model

__all__ = ["engine", "index", "model", "other_model", "text_model"]
