"""Moves rejections of other repositories' issues into `verdicts`. Drops their table and two that the index replaced."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_KEY = ["repo_id", "command_id", "kind", "number", "other", "issue"]


def upgrade() -> None:
    """No release has used the three dropped tables, so a running worker of an older release does not need them."""
    with op.batch_alter_table("verdicts") as verdicts:
        verdicts.add_column(sa.Column("issue", sa.Text(), nullable=False, server_default=""))
        verdicts.drop_constraint("uq_verdicts_command", type_="unique")
        verdicts.create_unique_constraint("uq_verdicts_command", _KEY)
    op.execute(
        "INSERT INTO verdicts (repo_id, number, issue, actor, at, undone_at, undone_by, command_id,"
        " other, kind, details) "
        "SELECT repo_id, number, issue, actor, at, undone_at, undone_by, command_id, 0, 'not', '{}' "
        "FROM rejected_elsewhere"
    )
    for table in ("rejected_elsewhere", "words", "counted"):
        op.drop_table(table)
