"""A model that remembers its last answers: an issue is asked about and then put into the index, with the same text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bot.embedding import Embedder


class Remembering:
    """Another model, which is not asked again for texts that it was asked for just now."""

    def __init__(self, model: Embedder) -> None:
        self._model = model
        self._last: tuple[tuple[str, ...], NDArray[np.float32]] = ((), np.zeros((0, 0), dtype=np.float32))

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def remote(self) -> bool:
        return self._model.remote

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        texts = tuple(texts)
        if texts != self._last[0]:
            self._last = (texts, self._model.embed(texts))
        return self._last[1]
