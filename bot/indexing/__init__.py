"""Fills the index of each repository and keeps it current."""

from bot.indexing.indexing import LOOK_EVERY, Indexing
from bot.indexing.writing import StoredFacts

__all__ = ["LOOK_EVERY", "Indexing", "StoredFacts"]
