"""What the index asks of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bot.errors import Retryable


class EmbeddingError(Retryable):
    """The model cannot be had, or does not answer; the message says which, and what to do about it.

    The message is for whoever runs the host: it can name addresses and folders. `told` is what anybody may read of it,
    by default the message.
    """

    def __init__(self, message: str, after: float | None = None, *, told: str = "") -> None:
        super().__init__(message, after)
        self.told = told or message


class Embedder(Protocol):
    """A model. Safe to share between threads; loaded on first use."""

    @property
    def name(self) -> str:
        """Which model this is. Vectors of models with different names are not compared."""
        ...

    @property
    def remote(self) -> bool:
        """Whether texts leave this machine, which private ones may only where host and repository allow it (C6a)."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(texts, dimensions), each of length one, or zero where a text has nothing that the model knows.

        Raises EmbeddingError.
        """
        ...


def no_numbers(rows: NDArray[np.float32]) -> bool:
    """Whether no row is of numbers, as where a model does not run well on its host: that is a failure, and no answer.

    Of a single text it can be that the model cannot read it.
    """
    return len(rows) > 0 and not np.isfinite(rows).all(axis=1).any()


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of length one; what has no direction, or is no number, becomes zero."""
    rows = np.asarray(rows, dtype=np.float32)
    lengths = np.sqrt(np.einsum("...d,...d->...", rows, rows))[..., None]
    if not np.isfinite(lengths).all():
        rows = np.nan_to_num(rows, posinf=0.0, neginf=0.0)
        lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 1e-6, lengths, np.inf), dtype=np.float32)
