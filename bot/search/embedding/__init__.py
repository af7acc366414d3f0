"""Models that turn texts into vectors, behind one interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bot.domain.errors import Retryable


class EmbeddingError(Retryable):
    """The model is missing or does not answer. The message says which, and what to do about it.

    The message is for the host's operator and may name addresses and folders; `told` is the text for everybody else.
    """

    def __init__(self, message: str, after: float | None = None, *, told: str = "") -> None:
        super().__init__(message, after)
        self.told = told or message


class Embedder(Protocol):
    """An embedding model, loaded on first use. Safe to share between threads."""

    @property
    def name(self) -> str:
        """The model's name. Vectors of models with different names are not compared."""

    @property
    def remote(self) -> bool:
        """Whether texts leave this machine. Private texts may only if host and repository allow it (C6a)."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(texts, dimensions), of length one, or zero for texts that the model cannot read. Raises EmbeddingError."""


def all_invalid(rows: NDArray[np.float32]) -> bool:
    """Whether every row has NaN or infinity, so that the model is broken; a single one may be an unreadable text."""
    return len(rows) > 0 and not np.isfinite(rows).all(axis=1).any()


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale rows to length one; a row without direction, or without numbers, becomes zero."""
    rows = np.asarray(rows, dtype=np.float32)
    lengths = np.sqrt(np.einsum("...d,...d->...", rows, rows))[..., None]
    if not np.isfinite(lengths).all():
        rows = np.nan_to_num(rows, posinf=0.0, neginf=0.0)
        lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 1e-6, lengths, np.inf), dtype=np.float32)
