"""Issues of other repositories of which people said that an issue is none of theirs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.create_table(
        "rejected_elsewhere",
        sa.Column("repo_id", sa.BigInteger(), primary_key=True, autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger(), primary_key=True, autoincrement=False, nullable=False),
        sa.Column("issue", sa.Text(), primary_key=True, nullable=False),
        sa.Column("command_id", sa.BigInteger(), primary_key=True, autoincrement=False, nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(53), nullable=False),
        sa.Column("undone_at", sa.Float(53), nullable=True),
        sa.Column("undone_by", sa.BigInteger(), nullable=True),
    )
