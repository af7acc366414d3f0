"""Who is signed in to the dashboard."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.create_table(
        "sessions",
        sa.Column("key", sa.Text(), primary_key=True, nullable=False),
        sa.Column("login", sa.Text(), nullable=False),
        sa.Column("repositories", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(53), nullable=False),
    )
