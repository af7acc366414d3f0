"""Who closed an issue says who was a maintainer; and which way of reading what was said a repository's marks are of."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.add_column("duplicate_marks", sa.Column("closed_by", sa.Text(), nullable=True))
    op.add_column("evaluations", sa.Column("reading", sa.Integer(), nullable=True))
