"""Models that turn texts into vectors, behind one protocol."""

from __future__ import annotations

from functools import cache

from bot.embedding.local import SentenceModel, TextModel, WordLlama
from bot.embedding.protocol import Embedder, EmbeddingError

__all__ = ["Embedder", "EmbeddingError", "TextModel", "at_hand", "choose_embedder", "default_model"]

NONE, DEFAULT = "none", "wordllama"


def choose_embedder(model: str = DEFAULT, url: str = "", key: str = "") -> Embedder | None:
    """The model that a host has set; nothing is loaded yet.

    `none` is no model, `wordllama` the one that is always there. Any other name is the endpoint's where there is a
    `url`, and one of sentence-transformers where there is none.
    """
    if model == NONE:
        return None
    if url:
        # What it speaks through takes a while to import, and most have no endpoint.
        from bot.embedding.remote import RemoteModel

        return RemoteModel(url, model, key)
    return WordLlama() if model == DEFAULT else SentenceModel(model)


@cache
def default_model() -> Embedder:
    """The model that is always there, loaded once in a process."""
    return WordLlama()


def at_hand(model: Embedder | None) -> Embedder | None:
    """What stands in for a host's model where some hundred texts are embedded for one question: itself, or the default
    where it would be waited for, or where texts would leave this machine.
    """
    slow = isinstance(model, SentenceModel) or (model is not None and model.remote)
    return default_model() if slow else model
