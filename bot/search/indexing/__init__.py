"""Fills the index of each repository and keeps it current."""

from bot.search.indexing.indexing import LOOK_EVERY, Indexer, StoredRepositoryInfo

__all__ = ["LOOK_EVERY", "Indexer", "StoredRepositoryInfo"]
