"""The judge's verdicts, and the calls to the judge."""

from __future__ import annotations

from alembic import op

from bot.storage.schema import judge_calls, judgements

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    for table in (judgements, judge_calls):
        table.create(op.get_bind())
