"""A library of models for tests."""

from __future__ import annotations

import types
from typing import Any


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
