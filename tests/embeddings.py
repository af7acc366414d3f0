"""The shipped text model, which reads each text once in a process: most tests have the same few, at 20 ms each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from unittest import mock

import numpy as np
import pytest
from numpy.typing import NDArray

from bot.search.embedding.local_models import TextModel

_embed = TextModel.embed


@cache
def _vector(text: str) -> NDArray[np.float32]:
    (vector,) = _embed(TextModel(), [text])
    return np.asarray(vector, dtype=np.float32)


@contextmanager
def remembered() -> Iterator[None]:
    """Every text model is the shipped one, and gives the vectors that it gave before."""

    def embed(_: TextModel, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([_vector(text) for text in texts], dtype=np.float32).reshape(len(texts), 384)

    with mock.patch.object(TextModel, "embed", embed):
        yield


@pytest.fixture(scope="package", autouse=True)
def text_model() -> Iterator[None]:
    """For a conftest whose tests look for earlier reports, and are not about the model."""
    with remembered():
        yield
