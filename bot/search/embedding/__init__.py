"""Models that turn texts into vectors, behind one protocol."""

from __future__ import annotations

from functools import cache

from bot.search.embedding.local import SentenceModel, TextModel, WordLlama
from bot.search.embedding.protocol import Embedder, EmbeddingError

__all__ = ["Embedder", "EmbeddingError", "TextModel", "choose_embedder", "default_model", "fast_model"]

NONE, DEFAULT = "none", "wordllama"


def choose_embedder(model: str = DEFAULT, url: str = "", key: str = "") -> Embedder | None:
    """The model that a host has set. Nothing is loaded yet.

    `none` is no model, `wordllama` the one that is always there. Any other name is the endpoint's if there is a `url`,
    else one of sentence-transformers.
    """
    if model == NONE:
        return None
    if url:
        # What it speaks through takes a while to import, and most have no endpoint.
        from bot.search.embedding.remote import RemoteModel

        return RemoteModel(url, model, key)
    return WordLlama() if model == DEFAULT else SentenceModel(model)


@cache
def default_model() -> Embedder:
    """The model that is always there."""
    return WordLlama()


def fast_model(model: Embedder | None) -> Embedder | None:
    """The model for a question that needs some hundred texts embedded: the host's, or the default if that is slow or
    remote.
    """
    slow = isinstance(model, SentenceModel) or (model is not None and model.remote)
    return default_model() if slow else model
