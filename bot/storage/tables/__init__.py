"""The store's tables, all imported here, so that the schema is complete."""

from bot.storage.tables import index, schema

__all__ = ["index", "schema"]
