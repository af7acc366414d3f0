"""Workers with different models on one database: the one that was chosen later prevails, once; the others say so."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np
import pytest
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.embedding import EmbeddingError
from bot.index import Index, IndexedIssue, Kind, TextAnalyser
from bot.index.vectors import models
from bot.store.tables.index import embedding_models
from tests.index.conftest import HashingModel
from tests.waiting import wait_until

WARNING = "other workers have the model new"


class Worker:
    """One with a model of this name, as `doppel worker` starts it; `at` is its clock."""

    def __init__(self, engine: sa.Engine, name: str) -> None:
        self.model, self._engine = HashingModel(name), engine
        self.index = Index(engine, TextAnalyser(), self.model)
        models.say(engine, name)

    def ends(self) -> None:
        """It has not been heard of for a while."""
        mine = sa.update(embedding_models).where(embedding_models.c.name == self.model.name)
        with self._engine.begin() as connection:
            connection.execute(mine.values(seen_at=embedding_models.c.seen_at - models.FRESH - 1))

    def put(self, *numbers: int, text: str = "window flickers") -> None:
        self.index.put(1, [IndexedIssue(n, f"{text} {n}") for n in numbers])

    def fill(self) -> int:
        """How many issues it embeds that lack vectors of its model."""
        embedded = 0
        while numbers := self.index.embed_missing(1, limit=2):
            embedded += len(numbers)
        return embedded

    def finds(self) -> list[int]:
        pair = self.index.embed(1, self.index.analyse(1, "window flickers", ""))
        assert pair is not None
        with self.index.view(1) as view:
            return sorted(view.nearest(pair, {Kind.BOTH: 99})[Kind.BOTH].numbers.tolist())


def vectors_of(engine: sa.Engine) -> tuple[str, int]:
    with engine.connect() as connection:
        row = connection.execute(sa.text("SELECT model, vectors FROM index_states")).one()
        kept = connection.execute(sa.text("SELECT count(*) FROM indexed_vectors")).scalar()
    assert row.vectors == kept
    return row.model, row.vectors


@pytest.fixture
def old(engine: sa.Engine) -> Worker:
    """A worker from before the change, with four issues."""
    worker = Worker(engine, "old")
    worker.put(1, 2, 3, 4)
    assert vectors_of(engine) == ("old", 4)
    return worker


@pytest.fixture
def new(engine: sa.Engine, old: Worker) -> Worker:
    """The first worker with the new setting, which has embedded all issues anew."""
    worker = Worker(engine, "new")
    assert worker.fill() == 4
    return worker


def test_the_model_that_was_chosen_later_prevails_once(
    engine: sa.Engine, old: Worker, new: Worker, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "bot.index")
    for number in (5, 6, 7):
        old.put(number)
        assert old.fill() == 0
        new.put(number + 10)
    assert vectors_of(engine) == ("new", 7)
    assert new.fill() == 3, "what the other one has put"
    assert vectors_of(engine) == ("new", 10)
    assert new.finds() == [1, 2, 3, 4, 5, 6, 7, 15, 16, 17]
    assert [record.getMessage()[: len(WARNING)] for record in caplog.records] == [WARNING]


def test_the_model_that_was_chosen_later_prevails_though_the_clock_of_the_first_is_ahead(
    engine: sa.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as ahead:
        ahead.setattr("bot.index.vectors.models.time.time", lambda: 4e9)
        old = Worker(engine, "old")
    old.put(1, 2)
    assert Worker(engine, "new").fill() == 2
    assert vectors_of(engine) == ("new", 2)


def test_the_other_one_works_on_by_words(old: Worker, new: Worker) -> None:
    old.put(5)
    with pytest.raises(EmbeddingError, match="only other workers have"):
        old.finds()
    assert old.index.vector_count(1) is None and new.index.vector_count(1) == 4
    before = old.model.texts
    old.put(6, 7, 8)
    assert old.model.texts == before, "nothing is embedded for nothing"
    with old.index.view(1) as view:
        terms = view.look_up(old.index.analyse(1, "flickers", ""))["title"].terms
        assert len(terms) == 1 and view.count == 8
        assert np.array_equal(sorted(view.issues(range(1, 9))), range(1, 9))


def test_who_is_started_again_with_the_earlier_one_changes_nothing(engine: sa.Engine, old: Worker, new: Worker) -> None:
    """It has crashed in the middle of the change, or was left out of it."""
    again = Worker(engine, "old")
    again.put(5)
    assert again.fill() == 0
    assert vectors_of(engine) == ("new", 4)


def test_a_change_is_taken_back_when_nobody_has_the_later_one_any_more(
    engine: sa.Engine, old: Worker, new: Worker
) -> None:
    back = Worker(engine, "old")
    assert back.fill() == 0
    new.ends()
    assert back.fill() == 4
    assert back.finds() == [1, 2, 3, 4]
    # One that was forgotten must not have it all again.
    forgotten = Worker(engine, "new")
    forgotten.put(5)
    assert forgotten.fill() == 0
    assert vectors_of(engine) == ("old", 4)


def test_the_vectors_of_a_release_that_entered_no_models_give_way(engine: sa.Engine) -> None:
    before = Index(engine, TextAnalyser(), HashingModel("old"))
    before.put(1, [IndexedIssue(1, "window flickers")])
    worker = Worker(engine, "new")
    assert worker.fill() == 1
    assert vectors_of(engine) == ("new", 1)


def test_a_worker_that_embeds_while_the_model_is_changed_writes_nothing(engine: sa.Engine, old: Worker) -> None:
    class Overtaken(HashingModel):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            newer.fill()
            return super().embed(texts)

    newer = Worker(engine, "new")
    slow = Index(engine, TextAnalyser(), Overtaken("old"))
    slow.put(1, [IndexedIssue(5, "window flickers")])
    slow.put(1, [IndexedIssue(6, "window flickers")])
    assert slow.embed_missing(1) == []
    assert vectors_of(engine)[0] == "new"
    assert newer.fill() == 2
    assert newer.finds() == [1, 2, 3, 4, 5, 6]


def test_a_worker_says_what_it_has_as_long_as_it_lives(engine: sa.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def in_use() -> set[str]:
        with engine.connect() as connection:
            return set(models.in_use(connection))

    monkeypatch.setattr(models, "_EVERY", 0.01)
    with models.held(engine, "a model"):
        assert in_use() == {"a model"}
        with engine.begin() as connection:
            connection.execute(sa.update(embedding_models).values(seen_at=0.0))
        wait_until(lambda: in_use() == {"a model"})
    with engine.begin() as connection:
        connection.execute(sa.update(embedding_models).values(seen_at=0.0))
    assert in_use() == set()


def test_a_machine_whose_clock_is_ahead_hides_no_other(engine: sa.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    models.say(engine, "a model")
    with monkeypatch.context() as ahead:
        ahead.setattr("bot.index.vectors.models.time.time", lambda: 4e9)
        models.say(engine, "another")
    with engine.connect() as connection:
        assert set(models.in_use(connection)) == {"a model", "another"}
