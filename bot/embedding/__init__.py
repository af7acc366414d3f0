"""Models that turn texts into vectors, behind one protocol."""

from __future__ import annotations

from bot.embedding.protocol import Embedder, EmbeddingError
from bot.embedding.remote import RemoteModel
from bot.embedding.sentences import SentenceModel
from bot.embedding.wordllama import WordLlama

__all__ = ["Embedder", "EmbeddingError", "choose_embedder"]

NONE, DEFAULT = "none", "wordllama"


def choose_embedder(model: str = DEFAULT, url: str = "", key: str = "") -> Embedder | None:
    """The model that a host has set; nothing is loaded yet.

    `none` is no model, `wordllama` the one that is always there. Any other name is the endpoint's where there is a
    `url`, and one of sentence-transformers where there is none.
    """
    if model == NONE:
        return None
    if url:
        return RemoteModel(url, model, key)
    return WordLlama() if model == DEFAULT else SentenceModel(model)
