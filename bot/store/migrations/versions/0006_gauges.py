"""What each process says of the present, for the metrics."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "gauges",
        sa.Column("name", sa.Text(), primary_key=True, nullable=False),
        sa.Column("process", sa.Text(), primary_key=True, nullable=False),
        sa.Column("value", sa.Float(53), nullable=False),
        sa.Column("at", sa.Float(53), nullable=False),
    )
