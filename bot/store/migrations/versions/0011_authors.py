"""How many issues somebody wrote before is counted for each find."""

from __future__ import annotations

from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.create_index("ix_indexed_issues_author", "indexed_issues", ["repo_id", "author", "number"])
