"""Which commands have been heeded, so that a replay of their delivery gives none again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.create_table(
        "heeded",
        sa.Column("repo_id", sa.BigInteger(), primary_key=True, autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger(), primary_key=True, autoincrement=False, nullable=False),
        sa.Column("comment_id", sa.BigInteger(), primary_key=True, autoincrement=False, nullable=False),
        sa.Column("text_hash", sa.Text(), primary_key=True, nullable=False),
        sa.Column("said_at", sa.Text(), nullable=False),
        sa.Column("delivery", sa.Text(), nullable=False),
        sa.Column("done", sa.Boolean(), nullable=False),
    )
