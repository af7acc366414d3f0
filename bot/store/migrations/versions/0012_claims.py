"""What was said of duplicates is read once more: claims count now of who has closed issues of others."""

from __future__ import annotations

from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.execute("DELETE FROM duplicate_marks")
    op.execute("UPDATE evaluations SET read_until = ''")
    # One that is half way would go on from where it is, and never read what came before.
    op.execute(
        "UPDATE evaluations SET stage = 'failed', problem = 'the bot was updated meanwhile'"
        " WHERE stage IN ('reading', 'replaying')"
    )
