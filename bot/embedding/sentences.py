"""Models of `sentence-transformers`, by name: an extra that has to be installed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.embedding.protocol import EmbeddingError, no_numbers, unit
from bot.machine.packages import pip_install

PACKAGE = "sentence-transformers>=3"
"""As in the extra `models` of pyproject.toml."""


class SentenceModel:
    """Any model that `SentenceTransformer(NAME)` loads; `all-MiniLM-L6-v2` is a small good one."""

    remote = False

    def __init__(self, model: str) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._loaded: Any = None

    @property
    def name(self) -> str:
        return f"sentence-transformers/{self._model}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = self.vectors(texts)
        if no_numbers(vectors):
            raise EmbeddingError(f"{self.name}: its vectors are no numbers", told="the model's vectors are no numbers")
        return unit(vectors)

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Like `embed`, but as the model gives them: of any length, and NaN where it is broken."""
        # The library says nothing of calls from several threads at once.
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            try:
                return np.asarray(
                    self._loaded.encode(list(texts), convert_to_numpy=True, show_progress_bar=False), dtype=np.float32
                )
            except Exception as failure:
                raise EmbeddingError(f"{self.name}: {failure}", told="the model failed") from failure

    def _load(self) -> Any:
        try:
            from sentence_transformers import SentenceTransformer

            return SentenceTransformer(self._model)
        except ImportError as failure:
            command = pip_install(PACKAGE)
            raise EmbeddingError(
                f"sentence-transformers is not installed: {command}, or choose another model",
                told="sentence-transformers is not installed",
            ) from failure
        except Exception as failure:
            told = "the model could not be loaded"
            raise EmbeddingError(f"{self.name} could not be loaded: {failure}", told=told) from failure
