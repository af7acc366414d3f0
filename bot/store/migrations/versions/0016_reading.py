"""Which version of the analyser has read a repository's issues: what another has read is read again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    for name in ("reading", "read_to"):
        op.add_column("index_states", sa.Column(name, sa.BigInteger(), nullable=True))
