"""Which models workers have had and when each was chosen, so that of two the later one prevails."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.create_table(
        "embedding_models",
        sa.Column("name", sa.Text(), primary_key=True, nullable=False),
        sa.Column("chosen_at", sa.Float(53), nullable=False),
    )
