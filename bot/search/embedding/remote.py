"""A model behind an HTTP endpoint with OpenAI's `POST /embeddings`, which Voyage, Ollama and vLLM offer too.

Many endpoints refuse a request that has a text too long for the model (vLLM: 400), or too many texts
(Text Embeddings Inference: 413 or 422). Their messages differ, so the client does not read them: it sends a refused
request again in parts, and cuts a refused single text in half.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import requests
from numpy.typing import NDArray

from bot.domain.formats import batches
from bot.github.limits import retry_after
from bot.search.embedding import EmbeddingError, all_invalid, unit

_BATCH = 64
_TIMEOUT = (5.0, 60.0)
_ENDPOINT = "the model's endpoint"
_REFUSED = (400, 413, 422)
# A text of this length or less fits every model: 40 Chinese characters have 120 bytes, so at most 120 tokens, and every
# model takes at least 128. If an endpoint refuses such a text, something else is wrong.
_SHORT = 40


class _RequestRefused(EmbeddingError):
    """The endpoint refuses this request, and would refuse the same request again."""


class RemoteModel:
    """A remote `Embedder`. `url` is the address before `/embeddings`, such as `https://api.openai.com/v1`.

    `key` is sent as a bearer token, unless it is empty.
    """

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
            raise self._bad_answer("vectors of different lengths")
        vectors = np.concatenate(parts) if parts else np.zeros((0, 0), dtype=np.float32)
        if all_invalid(vectors):
            raise self._bad_answer("vectors of invalid numbers")
        return unit(vectors)

    def _bad_answer(self, answer: str) -> EmbeddingError:
        problem = f"answered with {answer}"
        return EmbeddingError(f"{self._url}: {problem}", public_message=f"{_ENDPOINT} {problem}")

    def _parts(self, texts: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        """The vectors of some texts, in as many requests as the endpoint requires."""
        try:
            yield self._ask(texts)
            return
        except _RequestRefused:
            if len(texts) == 1 and len(texts[0]) <= _SHORT:
                raise
        if len(texts) == 1:  # Refused: send only the first half of the text.
            yield from self._parts([texts[0][: len(texts[0]) // 2]])
            return
        for half in batches(texts, (len(texts) + 1) // 2):  # Refused: send the texts in two requests.
            yield from self._parts(half)

    def _ask(self, texts: Sequence[str]) -> NDArray[np.float32]:
        # Endpoints refuse empty texts: send a space instead, and set the vector to zero below.
        question = {"model": self._model, "input": [text or " " for text in texts], "encoding_format": "float"}
        try:
            # Do not follow a redirect: it could send the texts to an address that nobody has configured.
            answer = requests.post(
                self._url, json=question, headers=self._headers, timeout=_TIMEOUT, allow_redirects=False
            )
            if answer.status_code != 200:
                raise requests.HTTPError(response=answer)
            vectors = _vectors(json.loads(answer.content), len(texts))
        except requests.HTTPError as failure:
            status = failure.response.status_code
            error_type = _RequestRefused if status in _REFUSED else EmbeddingError
            message, public = f"{self._url}: HTTP {status}", f"{_ENDPOINT} answered {status}"
            after = retry_after(failure.response.headers, time.time())
            raise error_type(message, after, public_message=public) from None
        except requests.RequestException as failure:
            public = f"{_ENDPOINT} did not answer"
            raise EmbeddingError(f"{self._url}: {type(failure).__name__}", public_message=public) from None
        except (KeyError, TypeError, ValueError):
            message = f"{self._url}: the answer is not of the form of OpenAI's embeddings"
            public = f"{_ENDPOINT} answered something else"
            raise EmbeddingError(message, public_message=public) from None
        vectors[[not text for text in texts]] = 0  # the rows of the empty texts
        return vectors


def _vectors(answer: Any, expected: int) -> NDArray[np.float32]:
    items = sorted(answer["data"], key=lambda item: item["index"])
    vectors = np.array([item["embedding"] for item in items], dtype=np.float32)
    if vectors.ndim != 2 or not vectors.size or [item["index"] for item in items] != list(range(expected)):
        raise ValueError
    return vectors
