"""A model behind an HTTP endpoint with OpenAI's `POST /embeddings`, which Voyage, Ollama and vLLM have too.

Many endpoints refuse a request for one text that is too long for the model (vLLM: 400), or for too many texts (Text
Embeddings Inference: 413 or 422). Their messages differ, so a refused request is sent again in parts, and a refused
single text is cut in half.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import requests
from numpy.typing import NDArray

from bot.domain.formats import batches
from bot.search.embedding import EmbeddingError, all_invalid, unit

_BATCH = 64
_TIMEOUT = (5.0, 60.0)
_ENDPOINT = "the model's endpoint"
_REFUSED = (400, 413, 422)
# A text so short fits every model, even one of 128 tokens that takes each byte of a Chinese sign for one. If it is
# refused, something else is wrong.
_SHORT = 40


class _Refused(EmbeddingError):
    """The endpoint refuses this request, and would refuse it again."""


class RemoteModel:
    """`url` is the address before `/embeddings`, such as `https://api.openai.com/v1`; `key` is sent as bearer token."""

    remote = True

    def __init__(self, url: str, model: str, key: str = "") -> None:
        self._url = url.rstrip("/") + "/embeddings"
        self._model = model
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}

    @property
    def name(self) -> str:
        return f"{self._url}#{self._model}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        parts = [part for batch in batches(texts, _BATCH) for part in self._parts(batch)]
        if len({part.shape[1] for part in parts}) > 1:
            raise self._useless("vectors of different lengths")
        vectors = np.concatenate(parts) if parts else np.zeros((0, 0), dtype=np.float32)
        if all_invalid(vectors):
            raise self._useless("vectors that are no numbers")
        return unit(vectors)

    def _useless(self, answer: str) -> EmbeddingError:
        says = f"answered with {answer}"
        return EmbeddingError(f"{self._url}: {says}", told=f"{_ENDPOINT} {says}")

    def _parts(self, texts: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        """The vectors of some texts, in as many requests as the endpoint needs."""
        try:
            yield self._ask(texts)
            return
        except _Refused:
            if len(texts) == 1 and len(texts[0]) <= _SHORT:
                raise
        if len(texts) == 1:
            yield from self._parts([texts[0][: len(texts[0]) // 2]])
            return
        # Many endpoints take half of a batch; below that, quarters find sooner what is wrong.
        size = len(texts) // 2 if len(texts) > _BATCH // 2 else -(-len(texts) // 4)
        for piece in batches(texts, size):
            yield from self._parts(piece)

    def _ask(self, texts: Sequence[str]) -> NDArray[np.float32]:
        # Endpoints refuse empty texts; their vectors are zero here.
        question = {"model": self._model, "input": [text or " " for text in texts], "encoding_format": "float"}
        try:
            # A redirect would send the texts to an address that nobody has configured.
            answer = requests.post(
                self._url, json=question, headers=self._headers, timeout=_TIMEOUT, allow_redirects=False
            )
            if answer.status_code != 200:
                raise requests.HTTPError(response=answer)
            vectors = _vectors(answer.json(), len(texts))
        except requests.HTTPError as failure:
            status = failure.response.status_code
            kind = _Refused if status in _REFUSED else EmbeddingError
            told = f"{_ENDPOINT} answered {status}"
            raise kind(f"{self._url}: HTTP {status}", after=_retry_after(failure.response), told=told) from None
        except requests.RequestException as failure:
            told = f"{_ENDPOINT} did not answer"
            raise EmbeddingError(f"{self._url}: {type(failure).__name__}", told=told) from None
        except (KeyError, TypeError, ValueError):
            says = "the answer is not of the form of OpenAI's embeddings"
            raise EmbeddingError(f"{self._url}: {says}", told=f"{_ENDPOINT} answered something else") from None
        vectors[[not text for text in texts]] = 0
        return vectors


def _vectors(answer: Any, expected: int) -> NDArray[np.float32]:
    items = sorted(answer["data"], key=lambda item: item["index"])
    vectors = np.array([item["embedding"] for item in items], dtype=np.float32)
    if vectors.ndim != 2 or not vectors.size or [item["index"] for item in items] != list(range(expected)):
        raise ValueError
    return vectors


def _retry_after(response: requests.Response) -> float | None:
    value = response.headers.get("retry-after", "")
    return float(value) if value.isascii() and value.isdigit() else None
