"""Finding by meaning: cosines, the centre, models that change, several processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.search.embedding import Embedder, EmbeddingError
from bot.search.index import Index, IndexedIssue, TextAnalyser, VectorKind
from bot.search.index import vectors as vectors_module
from tests.index.conftest import HashingModel

TITLES = [
    "window flickers on resize",
    "resize makes the window flicker",
    "login fails with two factors",
    "cannot log in",
    "window does not close",
    "export writes an empty file",
]


def put(index: Index, repo_id: int = 1) -> None:
    index.put(repo_id, [IndexedIssue(n, title, f"text of {title}") for n, title in enumerate(TITLES, 1)])


def nearest(
    index: Index, text: str, kind: VectorKind = VectorKind.BOTH, k: int = 10, below: int | None = None
) -> list[int]:
    pair = index.embed(1, index.analyse(1, text, ""))
    assert pair is not None
    with index.view(1) as view:
        return list(map(int, view.nearest(pair, {kind: k}, below=below)[kind].numbers))


def unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths: NDArray[np.float64] = np.linalg.norm(rows, axis=-1, keepdims=True)
    return rows / lengths


def test_cosines_are_those_of_the_model_around_the_centre(
    index: Index, model: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors_module, "FIRST_CENTRE", 6)
    put(index)
    analyses = [index.analyse(1, title, f"text of {title}") for title in TITLES]
    raw = np.stack([model.embed([a.title for a in analyses]), model.embed([a.text for a in analyses])], axis=1)
    around = unit(raw.astype(np.float64) - raw.mean(axis=0))
    expected = np.concatenate([around, unit(around.sum(axis=1, keepdims=True))], axis=1)
    with index.view(1) as view:
        stored = view.vectors(np.arange(1, 7))
        assert np.abs(np.einsum("nkd,nkd->nk", stored, expected) - 1).max() < 5e-3
        found = view.nearest(raw[0], dict.fromkeys(VectorKind, 6))
        for kind in VectorKind:
            cosines = expected[:, kind] @ expected[0, kind]
            assert found[kind].numbers[0] == 1
            assert np.abs(found[kind].scores - cosines[found[kind].numbers - 1]).max() < 0.02
            assert sorted(found[kind].numbers.tolist()) == [1, 2, 3, 4, 5, 6]


def test_what_is_taken_out_or_changed_is_seen_by_every_process(engine: sa.Engine, model: Embedder) -> None:
    one, other = Index(engine, TextAnalyser(), model), Index(engine, TextAnalyser(), model)
    put(one)
    text = "window flickers on resize"
    assert nearest(other, text, VectorKind.TITLE)[0] == 1
    one.remove(1, [1])
    assert nearest(other, text, VectorKind.TITLE)[0] == 2
    one.put(1, [IndexedIssue(6, text), IndexedIssue(70_000, text)])
    for reader in (one, other):
        assert nearest(reader, text, VectorKind.TITLE)[:2] == [6, 70_000]
        assert nearest(reader, text, VectorKind.TITLE, below=6)[0] == 2
        with reader.view(1) as view:
            assert not view.vectors(np.array([1, 99_999])).any()
    one.forget(1)
    assert nearest(other, text) == []


def test_two_workers_with_different_models_never_mix_their_vectors(
    engine: sa.Engine, index: Index, other_model: Embedder
) -> None:
    """While the setting is changed on one worker after the other. What arrives replaces no other model's vectors."""
    other = Index(engine, TextAnalyser(), other_model)
    put(index)
    other.put(1, [IndexedIssue(7, "for the other")])
    assert (index.vector_count(1), other.vector_count(1)) == (6, 0)
    for worker, idle in ((other, index), (index, other)):
        assert worker.embed_missing(1, limit=1) == [7]
        assert worker.vector_count(1) == 1 and idle.vector_count(1) == 0
        pair = idle.embed(1, idle.analyse(1, "window", ""))
        with idle.view(1) as view, pytest.raises(EmbeddingError, match="the model was changed"):
            assert pair is not None
            idle.check(view, pair)
    while index.embed_missing(1, limit=2):
        pass
    assert nearest(index, "cannot log in")[0] == 4
    assert index.vector_count(1) == index.count(1) == 7


def test_an_endpoint_that_gives_a_name_to_another_model_embeds_anew(
    engine: sa.Engine, index: Index, model: HashingModel, caplog: pytest.LogCaptureFixture
) -> None:
    """Its vectors have another length, which is all that tells."""
    put(index)
    other = Index(engine, TextAnalyser(), model)
    assert nearest(index, "cannot log in")[0] == nearest(other, "cannot log in")[0] == 4
    model.dimensions = 96
    index.put(1, [IndexedIssue(7, "window flickers on resize")])
    assert [record.message for record in caplog.records] == [
        "hashing answers with 96 dimensions, not with 64 as before: repository 1 is embedded anew"
    ]
    for reader in (index, other):
        assert nearest(reader, "window") == [7]
    while index.embed_missing(1, limit=2):
        pass
    for reader in (index, other):
        assert nearest(reader, "cannot log in")[0] == 4
        assert sorted(nearest(reader, "window flickers on resize", k=2)) == [1, 7]
    assert len(caplog.records) == 1


class Slow:
    """A model, while which embeds something else happens."""

    remote = False

    def __init__(self, model: Embedder, meanwhile: Callable[[], None]) -> None:
        self._model, self._meanwhile = model, meanwhile
        self.name = model.name

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self._meanwhile()
        return self._model.embed(texts)


def test_an_edit_while_an_issue_is_embedded_is_not_overwritten(
    engine: sa.Engine, index: Index, model: Embedder
) -> None:
    put(index)
    index.put(1, [IndexedIssue(n, f"left for later {n}") for n in (3, 4)], embed=False)
    edited = IndexedIssue(3, "entirely different")
    slow = Index(engine, TextAnalyser(), Slow(model, lambda: index.put(1, [edited])))
    assert slow.embed_missing(1) == [4, 3]
    assert nearest(index, "entirely different", VectorKind.TITLE)[0] == 3
    assert nearest(index, "left for later 3", VectorKind.TITLE)[0] == 4
    assert slow.missing_vectors(1) == []


def test_an_edit_that_was_taken_back_before_it_arrived_is_not_half_there(
    engine: sa.Engine, index: Index, model: Embedder
) -> None:
    before = IndexedIssue(3, "blue sky", "green grass", updated_at=1.0)
    edited = IndexedIssue(3, "red clouds", "yellow sand", updated_at=2.0)
    index.put(1, [before])
    # By what was there first nothing about the third is new, and so it must be looked at again.
    slow = Index(engine, TextAnalyser(), Slow(model, lambda: index.put(1, [edited])))
    slow.put(1, [IndexedIssue(4, "another"), before._replace(updated_at=3.0)])
    with index.view(1) as view:
        assert view.texts([3])[3] == ("blue sky", "green grass")
    assert nearest(index, "blue sky", VectorKind.TITLE)[0] == 3


@pytest.mark.parametrize("erased", [False, True])
def test_nothing_is_left_behind_of_what_goes_while_it_is_embedded(
    engine: sa.Engine, index: Index, model: Embedder, erased: bool
) -> None:
    put(index)
    index.put(1, [IndexedIssue(3, "left for later")], embed=False)
    slow = Index(engine, TextAnalyser(), Slow(model, lambda: index.forget(1) if erased else index.remove(1, [3])))
    assert slow.embed_missing(1) == [3]
    assert index.vector_count(1) == index.count(1) == (0 if erased else 5)
    with engine.connect() as connection:
        rows = connection.execute(sa.text("SELECT count(*) FROM index_states")).scalar()
    assert rows == (0 if erased else 1)
