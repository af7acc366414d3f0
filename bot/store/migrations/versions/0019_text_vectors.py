"""What the text model makes of each issue."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.create_table(
        "text_vectors",
        sa.Column("repo_id", sa.BigInteger(), primary_key=True, nullable=False),
        sa.Column("number", sa.BigInteger(), primary_key=True, nullable=False),
        sa.Column("changed", sa.BigInteger(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
    )
    if op.get_bind().dialect.name == "postgresql":
        # As all of an index: what PostgreSQL knows of one repository is wrong of another (migration 0013).
        op.execute("ALTER TABLE text_vectors ALTER COLUMN repo_id SET STATISTICS 0")
