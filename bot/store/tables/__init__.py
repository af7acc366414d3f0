"""The tables: each file's are imported here, since the schema is complete only with all of them."""

from bot.store.tables import index, schema

__all__ = ["index", "schema"]
