"""Filling the index of each repository and keeping it current: what to ask GitHub next, when, and what to keep."""

from bot.indexing.indexing import LOOK_EVERY, Indexing
from bot.indexing.writing import StoredFacts

__all__ = ["LOOK_EVERY", "Indexing", "StoredFacts"]
