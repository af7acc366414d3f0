"""The backlog scan: what was found for each issue, and the issue that shows it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "scan_answers",
        sa.Column("repo_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("candidates", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("repo_id", "number"),
    )
    op.create_table(
        "scan_issues",
        sa.Column("repo_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=True),
        sa.Column("updated_at", sa.Float(53), nullable=False),
        sa.PrimaryKeyConstraint("repo_id"),
    )
