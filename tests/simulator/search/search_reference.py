"""What the tests of the search engine share: short ways to make documents, and a slow engine that is plainly right."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import snowballstemmer

from bot.simulator.search import Document, QueryError, SearchIndex

EPOCH = datetime(2024, 1, 1, tzinfo=UTC)
_stem = snowballstemmer.stemmer("english").stemWord


def issue(number: int, title: str = "", body: str = "", **more: Any) -> Document:
    """An issue of acme/app, created `number` days after the epoch."""
    created = EPOCH + timedelta(days=number)
    defaults: dict[str, Any] = {"repo": "acme/app", "created_at": created, "updated_at": created, "author": "ann"}
    return Document(id=number, number=number, title=title, body=body, **{**defaults, **more})


def index_of(documents: Iterable[Document]) -> SearchIndex:
    index = SearchIndex()
    for document in documents:
        index.put(document)
    return index


def found(index: SearchIndex, q: str, **more: Any) -> list[int]:
    """The ids that a query for issues and pull requests alike finds, in order of the ids."""
    return sorted(index.search(q, per_page=100, require_kind=False, **more).ids)


def refusal(index: SearchIndex, q: str, **more: Any) -> QueryError:
    """The error of a query that must be refused."""
    try:
        index.search(q, **more)
    except QueryError as error:
        return error
    raise AssertionError(f"not refused: {q!r}")


def stems(text: str) -> list[str]:
    """ASCII text as stems, word by word."""
    return [_stem(word) if word.isalpha() else word for word in re.findall(r"\w+", text.lower())]


def texts(document: Document, fields: Iterable[str]) -> list[list[str]]:
    """The stems of each text in the fields; each comment is a text of its own."""
    by_field = {"title": [document.title], "body": [document.body], "comments": list(document.comments)}
    return [stems(text) for field in fields for text in by_field[field]]


def has_word(document: Document, word: str, fields: Iterable[str]) -> bool:
    """Every part of the word occurs somewhere in the fields."""
    everything = {stem for text in texts(document, fields) for stem in text}
    return everything.issuperset(stems(word))


def has_phrase(document: Document, phrase: str, fields: Iterable[str]) -> bool:
    """The words of the phrase stand side by side in one text of the fields."""
    wanted = stems(phrase)
    return any(
        text[start : start + len(wanted)] == wanted for text in texts(document, fields) for start in range(len(text))
    )
