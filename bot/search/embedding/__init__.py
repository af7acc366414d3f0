"""The models that turn texts into vectors for the index, behind one interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bot.domain.errors import Retryable


class EmbeddingError(Retryable):
    """The model is missing, fails, or gives a useless answer.

    The message is for the host's operator, and may name addresses and folders. `public_message` is for everybody else.
    """

    def __init__(self, message: str, after: float | None = None, *, public_message: str = "") -> None:
        super().__init__(message, after)
        self.public_message = public_message or message


class Embedder(Protocol):
    """An embedding model, loaded on first use. Safe to share between threads."""

    @property
    def name(self) -> str:
        """The model's name. Vectors of models with different names are not compared."""

    @property
    def remote(self) -> bool:
        """Whether texts leave this machine. For private texts, host and repository must both allow that (C6a)."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector for each text, in an array of shape (texts, dimensions). Raises EmbeddingError.

        A vector has length one, or is zero if the model cannot read the text.
        """


def all_invalid(rows: NDArray[np.float32]) -> bool:
    """Whether the model is broken: every row has NaN or infinity. A single such row may be due to its text."""
    return len(rows) > 0 and bool((~np.isfinite(rows)).any(axis=1).all())


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale rows to length one. NaN and infinity count as zero. Rows of length 1e-6 or less become zero."""
    rows = np.asarray(rows, dtype=np.float32)
    lengths = np.sqrt(np.einsum("...d,...d->...", rows, rows))[..., None]
    if not np.isfinite(lengths).all():
        rows = np.nan_to_num(rows, posinf=0.0, neginf=0.0)
        lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 1e-6, lengths, np.inf), dtype=np.float32)
