"""Another database in the place of one that is in use, as people put a restored one there on PostgreSQL."""

from __future__ import annotations

import sqlalchemy as sa


def give_name_to(restored: str, ours: str) -> None:
    """Give a database the name of another, whose connections are cut and which gets another name."""
    mine, other = sa.make_url(ours), sa.make_url(restored)
    server = sa.create_engine(mine.set(database="postgres"), isolation_level="AUTOCOMMIT")
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname IN (%s, %s)"
    with server.connect() as connection:
        connection.exec_driver_sql(f"ALTER DATABASE {mine.database} ALLOW_CONNECTIONS false")
        connection.exec_driver_sql(cut, (mine.database, other.database))
        connection.exec_driver_sql(f"ALTER DATABASE {mine.database} RENAME TO {mine.database}_lost")
        connection.exec_driver_sql(f"ALTER DATABASE {other.database} RENAME TO {mine.database}")
    server.dispose()
