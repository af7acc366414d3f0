"""Issues that may be closed after some time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_table(
        "closings",
        sa.Column("repo_id", sa.BigInteger(), primary_key=True, autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger(), primary_key=True, autoincrement=False, nullable=False),
        sa.Column("other", sa.BigInteger(), nullable=False),
        sa.Column("days", sa.BigInteger(), nullable=False),
        sa.Column("since", sa.Float(53), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
    )
