"""The models behind the one protocol."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import requests
import responses

from bot.search.embedding import EmbeddingError, local_models
from bot.search.embedding.local_models import SentenceModel, TextModel, WordLlama, choose_embedder
from bot.search.embedding.remote import RemoteModel

URL = "https://models.example/v1"
TEXTS = ["panic: index out of range", "the window flickers", "", "エラー", "index out of range panic " * 200]


class TestWordLlama:
    @pytest.mark.slow
    def test_vectors_are_those_of_the_package(self, monkeypatch: pytest.MonkeyPatch) -> None:
        # Importing the package configures the process's logging, which other tests look at.
        monkeypatch.setattr("logging.basicConfig", lambda **_: None)
        import wordllama

        package = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
        texts = [text for text in TEXTS if text]
        assert np.abs(package.embed(texts, norm=True) - WordLlama().embed(texts)).max() < 1e-3

    def test_texts_without_tokens_are_zero_and_others_of_length_one(self) -> None:
        vectors = WordLlama().embed(TEXTS)
        assert vectors.dtype == np.float32
        assert np.linalg.norm(vectors, axis=1).round(3).tolist() == [1, 1, 0, 1, 1]
        assert WordLlama().embed([]).shape == (0, 256)

    def test_a_text_has_the_same_vector_in_any_company_and_thread(self) -> None:
        model = WordLlama()
        alone = [model.embed([text])[0] for text in TEXTS]
        with ThreadPoolExecutor(4) as pool:
            for vectors in pool.map(lambda _: model.embed(TEXTS * 20), range(4)):
                assert np.abs(vectors - np.array(alone * 20)).max() < 1e-5

    def test_a_missing_package_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        local_models._read_wordllama.cache_clear()
        monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
        with pytest.raises(EmbeddingError, match="wordllama is not installed"):
            WordLlama().embed(["x"])


class TestRemote:
    @responses.activate
    def test_texts_are_sent_in_parts_and_vectors_put_in_order(self) -> None:
        def answer(request: requests.PreparedRequest) -> tuple[int, dict[str, str], str]:
            question = json.loads(request.body or "")
            assert request.headers["Authorization"] == "Bearer sesame"
            assert question["model"] == "m"
            data = [{"index": i, "embedding": [len(text), 1.0]} for i, text in enumerate(question["input"])]
            return 200, {}, json.dumps({"data": data[::-1]})

        responses.add_callback(responses.POST, f"{URL}/embeddings", answer)
        vectors = RemoteModel(URL + "/", "m", "sesame").embed(["x" * n for n in range(100)])
        assert len(responses.calls) == 2
        assert vectors[:, 0].tolist() == sorted(vectors[:, 0].tolist())
        assert not vectors[0].any()
        assert np.linalg.norm(vectors[1:], axis=1) == pytest.approx(1)

    @pytest.mark.parametrize("status", [400, 413, 422])
    @responses.activate
    def test_an_endpoint_that_takes_less_at_once_gets_less(self, status: int) -> None:
        """Few texts, and none that is longer than its model reads."""

        def answer(request: requests.PreparedRequest) -> tuple[int, dict[str, str], str]:
            texts = json.loads(request.body or "")["input"]
            if len(texts) > 20 or max(map(len, texts)) > 1_000:
                return status, {}, "no"
            data = [{"index": i, "embedding": [float(len(text)), 1.0]} for i, text in enumerate(texts)]
            return 200, {}, json.dumps({"data": data})

        responses.add_callback(responses.POST, f"{URL}/embeddings", answer)
        lengths = [700, 2_500, *range(1, 70), 0, 1_001]
        vectors = RemoteModel(URL, "m").embed(["x" * n for n in lengths])
        first, second = vectors[:, 0], vectors[:, 1]
        assert first[:-2] / second[:-2] == pytest.approx([700, 625, *range(1, 70)])
        assert (vectors[-2].tolist(), first[-1] / second[-1]) == ([0.0, 0.0], pytest.approx(500))

    def test_a_file_that_cannot_be_read_is_told_without_its_folder(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        package = SimpleNamespace(origin=str(tmp_path / "__init__.py"))
        local_models._read_wordllama.cache_clear()
        monkeypatch.setattr("bot.search.embedding.local_models.importlib.util.find_spec", lambda _: package)
        with pytest.raises(EmbeddingError, match=r"could not be read: .+") as raised:
            WordLlama().embed(["x"])
        assert raised.value.public_message == "the model could not be read"

    @pytest.mark.parametrize(
        ("answer", "said", "after"),
        [
            ({"status": 429, "headers": {"retry-after": "7"}}, "HTTP 429", 7.0),
            ({"status": 500, "body": "secret text"}, "HTTP 500", None),
            ({"json": {"data": [{"index": 0}]}}, "not of the form", None),
            ({"json": {"data": [{"index": 1, "embedding": [1.0]}]}}, "not of the form", None),
            ({"json": {"data": [{"index": 0, "embedding": []}]}}, "not of the form", None),
            ({"body": "no JSON"}, "not of the form", None),
            ({"body": requests.ConnectionError("refused: sesame")}, "ConnectionError", None),
        ],
    )
    @responses.activate
    def test_failures_are_one_kind_of_error_that_tells_no_secrets(
        self, answer: dict[str, Any], said: str, after: float | None
    ) -> None:
        responses.post(f"{URL}/embeddings", **answer)
        with pytest.raises(EmbeddingError, match=said) as raised:
            RemoteModel(URL, "m", "sesame").embed(["x"])
        assert raised.value.after == after
        assert "sesame" not in str(raised.value)
        assert raised.value.public_message.startswith("the model's endpoint ")
        assert "secret" not in str(raised.value)

    @responses.activate
    def test_vectors_that_are_no_numbers_are_a_failure_but_not_those_of_one_text_alone(self) -> None:
        """JSON has no word for what is no number, and endpoints answer null: for all texts where no model runs."""
        nothing = [None, None]
        responses.post(
            f"{URL}/embeddings", json={"data": [{"index": 0, "embedding": nothing}, {"index": 1, "embedding": nothing}]}
        )
        responses.post(
            f"{URL}/embeddings",
            json={"data": [{"index": 0, "embedding": nothing}, {"index": 1, "embedding": [0.0, 2.0]}]},
        )
        with pytest.raises(EmbeddingError, match="invalid numbers") as raised:
            RemoteModel(URL, "m").embed(["x", "y"])
        assert raised.value.public_message == "the model's endpoint answered with vectors of invalid numbers"
        assert RemoteModel(URL, "m").embed(["x", "y"]).tolist() == [[0.0, 0.0], [0.0, 1.0]]


def test_vectors_of_a_library_that_are_no_numbers_are_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = SimpleNamespace(encode=lambda texts, **_: np.full((len(texts), 2), np.nan))
    library = SimpleNamespace(SentenceTransformer=lambda _: broken)
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    with pytest.raises(EmbeddingError, match="no numbers"):
        SentenceModel("m").embed(["x", "y"])
    assert SentenceModel("m").embed([]).shape == (0, 2)


def test_the_setting_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_embedder("none") is None
    default, remote, named = choose_embedder(), choose_embedder("m", URL), choose_embedder("all-MiniLM-L6-v2")
    assert default is not None
    assert remote is not None
    assert named is not None
    assert [one.remote for one in (default, remote, named)] == [False, True, False]
    assert len({one.name for one in (default, remote, named)}) == 3
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(EmbeddingError, match="not installed"):
        named.embed(["x"])


def test_what_the_text_model_cannot_read_is_like_nothing() -> None:
    """Any two texts of another language would look alike to it, and be called very likely the same."""
    unread = [
        "导出PDF时程序崩溃",
        "ログインページの読み込みに一分かかる",
        "Уведомления приходят дважды",
        "La aplicación se cierra al exportar a PDF",
        "PDF dışa aktarırken uygulama çöküyor",
    ]
    assert not TextModel().embed(unread).any()
    read = ["The app crashes when exporting to PDF", "Notifications arrive twice", "panic: renderPdfPage in 3.2"]
    assert np.linalg.norm(TextModel().embed(read), axis=1) == pytest.approx([1.0] * len(read), abs=1e-5)


def test_the_text_model_says_the_same_on_every_processor() -> None:
    """Without VNNI, products of bytes can overflow: here .040, .285 and .132."""
    first, second, third = TextModel().embed(
        ["The app crashes when exporting to PDF", "Notifications arrive twice", "panic: renderPdfPage in 3.2"]
    )
    assert [first @ second, first @ third, second @ third] == pytest.approx([0.0244, 0.3084, 0.1245], abs=0.005)
