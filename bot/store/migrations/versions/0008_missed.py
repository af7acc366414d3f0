"""What GitHub could not deliver, and how far its list has been read."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "missed",
        sa.Column("guid", sa.Text(), primary_key=True, nullable=False),
        sa.Column("delivery_id", sa.BigInteger(), nullable=False),
        sa.Column("failed_at", sa.Float(53), nullable=False),
        sa.Column("status_code", sa.BigInteger(), nullable=False),
        sa.Column("asked", sa.BigInteger(), nullable=False),
        sa.Column("asked_at", sa.Float(53), nullable=False),
    )
    op.create_table(
        "marks",
        sa.Column("name", sa.Text(), primary_key=True, nullable=False),
        sa.Column("at", sa.Float(53), nullable=False),
    )
