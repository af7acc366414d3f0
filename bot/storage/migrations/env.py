"""Alembic's entry point: runs the migrations on the connection that `bot.storage.migrate` has opened and locked."""

from __future__ import annotations

from alembic import context

from bot.storage.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table="store_version",
    # SQLite cannot alter a column in place; batch mode copies the table.
    render_as_batch=True,
)
context.run_migrations()
