"""The labels that the bot itself has added."""

from __future__ import annotations

from alembic import op

from bot.storage.schema import labelled

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    labelled.create(op.get_bind())
