"""The tables: each file's are imported here, since the schema is complete only with all of them."""

from bot.store.tables import decisions, evaluations, index, missed, scan, schema

__all__ = ["decisions", "evaluations", "index", "missed", "scan", "schema"]
