"""PostgreSQL compares vectors by its extension until a process is asked often, and answers what memory would."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.index import Index, IndexedIssue, Kind, TextAnalyser, memory, pgvector
from bot.index import index as index_module
from bot.store import Store
from bot.store.engine import make_engine
from bot.store.migrate import migrate
from tests.index.conftest import HashingModel

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
    monkeypatch.setattr(index_module, "FIRST_CENTRE", 40)
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
    monkeypatch.setattr(pgvector, "MOST", 25)
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


def test_a_server_that_refuses_the_extension_is_no_error(
    new_database: Callable[[str], str], model: HashingModel, caplog: pytest.LogCaptureFixture
) -> None:
    url = new_database("postgres")
    admin = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    name = sa.make_url(url).database
    with admin.connect() as connection:
        connection.exec_driver_sql(f"CREATE ROLE {name}_owner LOGIN")
        connection.exec_driver_sql(f"GRANT CREATE ON SCHEMA public TO {name}_owner")
    admin.dispose()
    engine = make_engine(sa.make_url(url).set(username=f"{name}_owner").render_as_string(hide_password=False))
    with caplog.at_level(logging.INFO, "bot.store.pgvector"):
        migrate(engine)
    (said,) = [record.getMessage() for record in caplog.records if record.name == "bot.store.pgvector"]
    assert said.startswith("pgvector is not used: permission denied to create extension")
    index = Index(engine, TextAnalyser(), model)
    index.put(1, issues(1, 30))
    found, served = find(index)
    assert not served
    assert len(found[Kind.BOTH][0]) == 5
    engine.dispose()


def test_an_extension_that_comes_later_is_used_from_the_next_start_on(
    new_database: Callable[[str], str], model: HashingModel
) -> None:
    engine = make_engine(new_database("postgres"))
    migrate(engine)
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE pgvector_halves, pgvector_states")
    Index(engine, TextAnalyser(), model).put(1, issues(1, 30))
    migrate(engine)
    # What was indexed before is taken over with the next change.
    assert not find(Index(engine, TextAnalyser(), model))[1]
    Index(engine, TextAnalyser(), model).put(1, issues(31, 31))
    agree(engine, model)
    engine.dispose()
