"""PostgreSQL compares vectors by its extension until a process is asked often, and answers what memory would."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
import pytest
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.index import Index, IndexedIssue, Kind, TextAnalyser, memory
from bot.index import state as states
from bot.index.vectors import embedded as embedded_module
from bot.index.vectors import pgvector
from bot.store import Store
from bot.store.database import pgvector as tables
from bot.store.database.engine import make_engine
from bot.store.database.migrate import migrate
from tests.index.conftest import HashingModel
from tests.waiting import LONGEST

pytestmark = pytest.mark.postgres

WANTED = {Kind.BOTH: 5, Kind.TITLE: 4, Kind.TEXT: 3}
WORDS = [
    "window",
    "resize",
    "flickers",
    "login",
    "fails",
    "export",
    "file",
    "empty",
    "crash",
    "theme",
    "font",
    "scroll",
]

Found = dict[Kind, tuple[list[int], NDArray[np.float64]]]


@pytest.fixture(scope="module")
def url(new_store: Callable[[str], str]) -> str:
    return new_store("postgres")


@pytest.fixture
def engine(url: str) -> Iterator[sa.Engine]:
    """Of a database that all tests share, empty at the beginning of each."""
    engine = make_engine(url, patience=10)
    Index(engine, TextAnalyser()).forget(1)
    yield engine
    engine.dispose()


def issues(first: int, last: int, seed: int = 1) -> list[IndexedIssue]:
    rng = np.random.default_rng(seed)
    texts = [rng.choice(WORDS, 6).tolist() for _ in range(first, last + 1)]
    return [IndexedIssue(n, " ".join(t[:3]), " ".join(t)) for n, t in zip(range(first, last + 1), texts, strict=True)]


def find(index: Index, below: int | None = None) -> tuple[Found, bool]:
    """What is nearest to a text, and whether the database said so."""
    pair = index.embed(1, index.analyse(1, "window flickers resize", "login fails"))
    assert pair is not None
    with index.view(1) as view:
        found = view.nearest(pair, WANTED, below=below)
        return {kind: (one.numbers.tolist(), one.scores) for kind, one in found.items()}, view._served


def halves(engine: sa.Engine) -> dict[str, int]:
    with engine.connect() as connection:
        count = "SELECT count(*) FROM"
        return {
            table: connection.exec_driver_sql(f"{count} {table} WHERE repo_id = 1").scalar_one()
            for table in ("pgvector_halves", "pgvector_states")
        }


def agree(engine: sa.Engine, model: HashingModel, below: int | None = None) -> None:
    """A process that is asked for the first time has the database compare, and finds what comparing here finds."""
    fresh, own = Index(engine, TextAnalyser(), model), Index(engine, TextAnalyser(), model)
    theirs, served = find(fresh, below)
    assert served
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "FEW_FINDS", 0)
        ours, served = find(own, below)
    assert not served
    for kind, (numbers, cosines) in ours.items():
        assert len(numbers) == WANTED[kind]
        assert numbers == theirs[kind][0]
        assert np.abs(cosines - theirs[kind][1]).max() < 0.02


def test_it_finds_what_memory_finds_through_all_changes(
    engine: sa.Engine, model: HashingModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_module, "FIRST_CENTRE", 40)
    index = Index(engine, TextAnalyser(), model)
    index.put(1, issues(1, 30))
    agree(engine, model)
    # The first centre, and its move when there are twice as many.
    index.put(1, issues(31, 60, seed=2))
    agree(engine, model)
    index.put(1, issues(61, 90, seed=3))
    agree(engine, model)
    agree(engine, model, below=20)
    index.put(1, [IndexedIssue(7, "window flickers resize", "login fails")])
    agree(engine, model)
    index.remove(1, [7, 8])
    agree(engine, model)
    index.put(1, issues(91, 92), embed=False)
    agree(engine, model)
    index.embed_missing(1)
    agree(engine, model)
    assert halves(engine) == {"pgvector_halves": 90, "pgvector_states": 1}


def test_another_model_s_vectors_are_compared_among_themselves(
    engine: sa.Engine, model: HashingModel, other_model: HashingModel
) -> None:
    Index(engine, TextAnalyser(), model).put(1, issues(1, 20))
    changed = Index(engine, TextAnalyser(), other_model)
    while changed.embed_missing(1, limit=7):
        pass
    agree(engine, other_model)
    assert halves(engine)["pgvector_halves"] == 20


def test_who_is_asked_often_reads_the_vectors(engine: sa.Engine, model: HashingModel) -> None:
    index = Index(engine, TextAnalyser(), model)
    index.put(1, issues(1, 40))
    fresh = Index(engine, TextAnalyser(), model)
    assert [find(fresh)[1] for _ in range(memory.FEW_FINDS + 2)] == [True] * memory.FEW_FINDS + [False, False]
    # What has been read is kept up, so the database is not asked again.
    index.put(1, issues(41, 42))
    assert not find(fresh)[1]


def test_candidates_vectors_are_read_where_memory_has_none(engine: sa.Engine, model: HashingModel) -> None:
    index = Index(engine, TextAnalyser(), model)
    index.put(1, issues(1, 40))
    numbers = np.array([3, 99, 5])
    with index.view(1) as view:
        assert view._served
        theirs = view.vectors(numbers)
    with pytest.MonkeyPatch.context() as patch, index.view(1) as view:
        patch.setattr(memory, "FEW_FINDS", 0)
        assert np.abs(view.vectors(numbers) - theirs).max() < 0.02
    assert not theirs[1].any()
    assert theirs[0].any()


def test_what_an_earlier_release_has_written_is_not_missed(engine: sa.Engine, model: HashingModel) -> None:
    """Processes of two releases run side by side during an upgrade; the older one knows nothing of the extension."""
    Index(engine, TextAnalyser(), model).put(1, issues(1, 30))
    older = Index(engine, TextAnalyser(), model)
    older._pgvector.follow = lambda *_: None  # type: ignore[method-assign]
    older.put(1, [IndexedIssue(31, "window flickers resize", "login fails")])
    found, served = find(Index(engine, TextAnalyser(), model))
    assert not served
    assert found[Kind.TITLE][0][0] == 31
    Index(engine, TextAnalyser(), model).put(1, issues(32, 32))
    agree(engine, model)
    assert halves(engine)["pgvector_halves"] == 32


def test_a_repository_that_has_become_too_large_is_given_up(
    engine: sa.Engine, model: HashingModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pgvector, "MOST", 25 * model.dimensions)
    index = Index(engine, TextAnalyser(), model)
    index.put(1, issues(1, 25))
    agree(engine, model)
    index.put(1, issues(26, 26))
    assert not find(Index(engine, TextAnalyser(), model))[1]
    assert halves(engine) == {"pgvector_halves": 0, "pgvector_states": 0}
    index.remove(1, [26])
    agree(engine, model)


@pytest.mark.parametrize("by", ["index", "store"])
def test_nothing_is_left_of_what_is_erased_c6a(engine: sa.Engine, model: HashingModel, by: str) -> None:
    index = Index(engine, TextAnalyser(), model)
    index.put(1, issues(1, 10))
    assert halves(engine) == {"pgvector_halves": 10, "pgvector_states": 1}
    index.forget(1) if by == "index" else Store(engine).forget(1)
    assert halves(engine) == {"pgvector_halves": 0, "pgvector_states": 0}


def test_who_wants_none_gets_none(engine: sa.Engine, model: HashingModel) -> None:
    """A replay's figures must not depend on which of its processes was asked how often."""
    index = Index(engine, TextAnalyser(), model, pgvector=False)
    index.put(1, issues(1, 30))
    assert not find(index)[1]
    assert halves(engine) == {"pgvector_halves": 0, "pgvector_states": 0}


def test_the_nearest_are_exact_however_many_there_are(engine: sa.Engine, model: HashingModel) -> None:
    """Here memory, which goes by signs first, may miss some."""
    index = Index(engine, TextAnalyser(), model)
    rng = np.random.default_rng(5)
    words = [f"word{number}" for number in range(300)]
    texts = [rng.choice(words, 12).tolist() for _ in range(2_500)]
    index.put(1, [IndexedIssue(n, " ".join(t[:5]), " ".join(t[5:])) for n, t in enumerate(texts, 1)])
    pair = index.embed(1, index.analyse(1, " ".join(words[:5]), " ".join(words[5:12])))
    assert pair is not None
    with index.view(1) as view:
        assert view._served
        found = view.nearest(pair, dict.fromkeys(Kind, 150))
        around, stored = view.centred(pair), view.vectors(np.arange(1, 2_501))
    for kind in Kind:
        cosines = stored[:, kind] @ around[kind]
        assert np.abs(np.sort(cosines)[::-1][:150] - found[kind].scores).max() < 2e-3
        assert np.abs(cosines[found[kind].numbers - 1] - found[kind].scores).max() < 2e-3


def test_a_model_of_more_dimensions_than_the_extension_takes_is_compared_in_memory(
    engine: sa.Engine, caplog: pytest.LogCaptureFixture
) -> None:
    index = Index(engine, TextAnalyser(), HashingModel("wide", dimensions=17_000))
    index.put(1, issues(1, 6))
    assert [one.getMessage() for one in caplog.records if one.name == "bot.index.vectors.pgvector"] == [
        "pgvector is not used any more until the next start: ProgramLimitExceeded"
    ]
    found, served = find(index)
    assert not served
    assert len(found[Kind.BOTH][0]) == 5


class Databases:
    """Databases of one test alone, by the role that uses them."""

    def __init__(self, new_database: Callable[[str], str]) -> None:
        self.url = sa.make_url(new_database("postgres"))
        self.admin = sa.create_engine(self.url, isolation_level="AUTOCOMMIT")

    def say(self, *statements: str) -> None:
        with self.admin.connect() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)

    def role(self) -> sa.Engine:
        """The database as it is to a role that may do little."""
        name = f"{self.url.database}_owner"
        self.say(f"CREATE ROLE {name} LOGIN", f"GRANT CREATE ON SCHEMA public TO {name}")
        return make_engine(self.url.set(username=name).render_as_string(hide_password=False))

    def close(self) -> None:
        self.admin.dispose()


@pytest.fixture
def alone(new_database: Callable[[str], str]) -> Iterator[Databases]:
    databases = Databases(new_database)
    yield databases
    databases.close()


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name.endswith(".pgvector")]


def works_without(engine: sa.Engine, model: HashingModel) -> None:
    index = Index(engine, TextAnalyser(), model)
    index.put(1, issues(1, 30))
    found, served = find(index)
    assert not served
    assert len(found[Kind.BOTH][0]) == 5


def test_a_server_that_refuses_the_extension_is_no_error(
    alone: Databases, model: HashingModel, caplog: pytest.LogCaptureFixture
) -> None:
    engine = alone.role()
    migrate(engine)
    assert said(caplog)[0].startswith("pgvector is not used: permission denied to create extension")
    works_without(engine, model)
    engine.dispose()


def test_nor_is_one_that_does_so_in_words_of_its_own(
    alone: Databases, model: HashingModel, caplog: pytest.LogCaptureFixture
) -> None:
    """Some hosted offers list extensions that they do not allow."""
    alone.say(
        "CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION 'not on the list' USING ERRCODE = '0A000'; END $$",
        "CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('CREATE EXTENSION') EXECUTE FUNCTION refuse()",
    )
    migrate(alone.admin)
    assert said(caplog)[0].startswith("pgvector is not used: not on the list")
    works_without(alone.admin.execution_options(isolation_level="READ COMMITTED"), model)


def test_tables_of_another_role_are_left_alone(
    alone: Databases, model: HashingModel, caplog: pytest.LogCaptureFixture
) -> None:
    engine = alone.role()
    alone.say("CREATE EXTENSION vector")
    migrate(engine)
    owner = sa.make_url(engine.url).username
    alone.say("ALTER TABLE pgvector_halves OWNER TO CURRENT_USER")
    alone.say(f"REVOKE ALL ON pgvector_halves FROM {owner}")
    migrate(engine)
    assert said(caplog)[0].startswith("pgvector is not used: must be owner of table")
    works_without(engine, model)
    engine.dispose()


def test_an_extension_that_is_taken_away_stops_nothing_and_is_used_again(
    alone: Databases, model: HashingModel, caplog: pytest.LogCaptureFixture
) -> None:
    engine = make_engine(alone.url.render_as_string(hide_password=False))
    migrate(engine)
    index, other = Index(engine, TextAnalyser(), model), Index(engine, TextAnalyser(), model)
    index.put(1, issues(1, 30))
    assert find(other)[1]
    alone.say("DROP EXTENSION vector CASCADE")
    found, served = find(other)
    assert served and len(found[Kind.BOTH][0]) == 5
    assert not find(other)[1]
    index.put(1, issues(31, 32))
    works_without(engine, model)
    assert set(said(caplog)) == {"pgvector is not used any more until the next start: UndefinedColumn"}
    migrate(engine)
    Index(engine, TextAnalyser(), model).put(1, issues(33, 33))
    agree(engine, model)
    engine.dispose()


def test_what_a_restored_database_says_of_itself_is_not_believed(alone: Databases, model: HashingModel) -> None:
    """Restored where there was no extension, only the table without its types is there."""
    engine = make_engine(alone.url.render_as_string(hide_password=False))
    migrate(engine)
    Index(engine, TextAnalyser(), model).put(1, issues(1, 30))
    alone.say("DROP TABLE pgvector_halves")
    migrate(engine)
    assert not find(Index(engine, TextAnalyser(), model))[1]
    Index(engine, TextAnalyser(), model).put(1, issues(31, 31))
    agree(engine, model)
    engine.dispose()


def test_a_start_does_not_wait_for_who_writes(
    alone: Databases, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = make_engine(alone.url.render_as_string(hide_password=False))
    migrate(engine)
    alone.say("DROP TABLE pgvector_halves, pgvector_states")
    monkeypatch.setattr(tables, "_MAKE", ("SET LOCAL lock_timeout = '100ms'", *tables._MAKE[1:]))
    with engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM indexed_vectors")
        migrate(engine)
    assert said(caplog)[0].startswith("pgvector is not used: canceling statement due to lock timeout")
    migrate(engine)
    with engine.connect() as connection:
        assert tables.is_prepared(connection)
    engine.dispose()


def test_who_erases_waits_for_who_writes(engine: sa.Engine, model: HashingModel) -> None:
    """Else they lock each other out, or leave behind what came meanwhile."""
    Index(engine, TextAnalyser(), model).put(1, issues(1, 5))
    with ThreadPoolExecutor(1) as pool:
        with engine.begin() as connection:
            states.lock(connection, 1)
            erased = pool.submit(Store(engine).forget, 1)
            assert wait([erased], timeout=0.3).not_done
        assert erased.result(LONGEST) > 0
