"""Playbooks, vectors and a library of models for tests."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

PATTERNS, MISTAKES, PREFERENCES = "PATTERNS & APPROACHES", "MISTAKES TO AVOID", "USER PREFERENCES"
VARIABLE = "AGENTIC_CONTEXT_DEDUP_THRESHOLD"


def entry(text: str, helpful: int = 1, harmful: int = 0) -> dict[str, Any]:
    return {"name": f"name of {text}", "text": text, "helpful": helpful, "harmful": harmful}


def playbook(**sections: list[dict[str, Any]]) -> dict[str, Any]:
    """A playbook with sections by a word of their names: `patterns=[…]`."""
    names = {"patterns": PATTERNS, "mistakes": MISTAKES, "preferences": PREFERENCES}
    return {
        "version": "1.0",
        "last_updated": "2026-03-01T10:00:00Z",
        "sections": {names.get(name, name): entries for name, entries in sections.items()},
    }


def vectors_with(similarities: dict[tuple[str, str], float], texts: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Unit vectors of texts with these cosine similarities, 0 where none is given (Cholesky of the Gram matrix)."""
    gram = np.eye(len(texts))
    for (one, other), value in similarities.items():
        i, j = texts.index(one), texts.index(other)
        gram[i, j] = gram[j, i] = value
    return dict(zip(texts, np.linalg.cholesky(gram), strict=True))


def given(similarities: dict[tuple[str, str], float], *texts: str) -> Callable[[Sequence[str]], NDArray[np.float64]]:
    """An `embed` whose vectors have these similarities."""
    known = vectors_with(similarities, texts)
    return lambda asked: np.array([known[text] for text in asked])


def never(texts: Sequence[str]) -> Any:
    raise AssertionError("the model was asked")


def fails(texts: Sequence[str]) -> Any:
    raise RuntimeError("encode failed")


def copies(texts: Sequence[str]) -> NDArray[np.float64]:
    """All texts are alike."""
    return np.ones((len(texts), 1))


class Fake(types.ModuleType):
    """`sentence_transformers` as far as it is used; `rows` answers, and counts who asks."""

    def __init__(self, rows: Any) -> None:
        super().__init__("sentence_transformers")
        self.loaded: list[str] = []
        fake = self

        class SentenceTransformer:
            def __init__(self, name: str) -> None:
                fake.loaded.append(name)

            def encode(self, texts: list[str], **_: Any) -> Any:
                return rows(texts)

        self.SentenceTransformer = SentenceTransformer
