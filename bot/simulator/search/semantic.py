"""A stand-in for GitHub's semantic and hybrid search, which does not require that every word occurs.

GitHub compares embeddings. We have no model, so we mix two scores: BM25, for which one shared word is enough, and the
overlap of the title's character trigrams with the query's. Trigrams tolerate other word forms, compounds and typos.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, Literal

from bot.simulator.search.document import Document
from bot.simulator.search.inverted import FieldIndex
from bot.simulator.search.ranking import bm25
from bot.simulator.search.syntax import Query

MOST_RESULTS: Final = 100
# Titles are compared only for this many documents, those with the best BM25 scores.
_POOL: Final = 400
# The title's share of the score, and the bonus for a match of the whole query.
_TITLE_SHARE: Final = 0.3
_LEXICAL_BONUS: Final = 0.25
# A word in more than this share of the documents says nothing about a text's subject.
_COMMON: Final = 0.2

Outage = Literal["server_error", "service_unavailable"]


def fallback_reasons(query: Query, *, anything_visible: bool, outage: Outage | None) -> tuple[str, ...]:
    """The API's reasons for a lexical answer; empty for a semantic one. Others replace `outage`."""
    reasons = {
        "no_text_terms": not query.texts,
        "quoted_text": any(text.quoted for text in query.texts),
        "non_issue_target": query.kinds != {"issue"},
        "or_boolean_not_supported": query.is_advanced,
        "no_accessible_repos": not anything_visible,
        "only_non_semantic_fields_requested": query.fields == {"comments"},
    }
    return tuple(reason for reason, applies in reasons.items() if applies) or ((outage,) if outage else ())


def similar(
    terms: Collection[int],
    text: str,
    fields: Sequence[FieldIndex],
    documents: Mapping[int, Document],
    *,
    allowed: Callable[[set[int]], set[int]],
    exact: set[int],
) -> dict[int, float]:
    """The most similar documents, at most 100, with scores in [0, 1.25].

    `terms` and `text` come from the query. `allowed` narrows documents to those that may be shown. `exact` are the
    documents that match the whole query (empty for a purely semantic search).
    """
    limit = _COMMON * max(1, len(documents))
    distinctive = [term for term in terms if max(len(field.postings.get(term, ())) for field in fields) <= limit]
    # If every term is common, use all of them.
    candidates = {
        document for term in distinctive or terms for field in fields for document in field.postings.get(term, ())
    }
    scores = bm25(distinctive or terms, [(field, 1.0) for field in fields], allowed(candidates))
    pool = heapq.nlargest(_POOL, scores, key=lambda document: (scores[document], document))
    best = max((scores[document] for document in pool), default=0.0) or 1.0  # Never divide by zero.
    wanted = _trigrams(text)
    mixed = {
        document: (1 - _TITLE_SHARE) * scores[document] / best
        + _TITLE_SHARE * _overlap(wanted, _trigrams(documents[document].title))
        + _LEXICAL_BONUS * (document in exact)
        for document in pool
    }
    return {document: mixed[document] for document in heapq.nlargest(MOST_RESULTS, mixed, key=lambda d: (mixed[d], d))}


def _trigrams(text: str) -> set[str]:
    padded = f" {text.lower()} "
    return {padded[start : start + 3] for start in range(len(padded) - 2)}


def _overlap(a: set[str], b: set[str]) -> float:
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 0.0
