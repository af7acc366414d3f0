"""PostgreSQL's planner believes that a repository which came after the last ANALYZE has one row, and may then look up
each key by reading all of the repository. Without statistics of the column it believes that each has many.
"""

from __future__ import annotations

from alembic import op

revision = "0013"
down_revision = "0012"

TABLES = (
    "indexed_issues",
    "indexed_bodies",
    "indexed_terms",
    "indexed_vectors",
    "index_vocabulary",
    "index_lists",
    "index_chunks",
)


def forgetting(table: str) -> tuple[str, str]:
    """What makes PostgreSQL forget what it knows of a table's repositories, and learn no more of them."""
    column = f"ALTER TABLE {table} ALTER COLUMN repo_id"
    # The second changes nothing else: the type is the same.
    return f"{column} SET STATISTICS 0", f"{column} TYPE bigint"


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        for table in TABLES:
            for statement in forgetting(table):
                op.execute(statement)
