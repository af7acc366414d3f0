"""What all processes have spent of GitHub's budgets."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "spent",
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("budget", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(53), nullable=False),
        sa.Column("units", sa.BigInteger(), nullable=False),
    )
    op.create_index("spent_account", "spent", ["account", "budget"])
