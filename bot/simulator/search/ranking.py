"""The sort order "best match": BM25 of each field. A word in the title counts most.

GitHub does not publish its formula, but its search runs on Elasticsearch, whose default is BM25.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

from bot.simulator.search.inverted import FieldIndex

TITLE_WEIGHT: Final = 3.0
BODY_WEIGHT: Final = 1.0
COMMENTS_WEIGHT: Final = 0.5
# BM25's two parameters, as Elasticsearch sets them.
_K1: Final = 1.2
_B: Final = 0.75


def idf(containing: int, documents: int) -> float:
    """BM25's weight of a term. `containing` counts the documents with the term, `documents` all. Always positive."""
    return math.log(1 + (documents - containing + 0.5) / (containing + 0.5))


def bm25(
    terms: Iterable[int], fields: Sequence[tuple[FieldIndex, float]], documents: Iterable[int]
) -> dict[int, float]:
    """Each document's score for the terms; `fields` come with their weights."""
    scores = dict.fromkeys(documents, 0.0)
    for term in terms:
        for field, field_weight in fields:
            postings = field.postings.get(term)
            if not postings:
                continue
            weight = field_weight * (_K1 + 1) * idf(len(postings), len(field))
            fixed, per_length = _K1 * (1 - _B), _K1 * _B * len(field) / field.total_length
            # Loop over the shorter one: a rare term has few postings, and a narrow query has few documents.
            few, many = (scores, postings) if len(scores) < len(postings) else (postings, scores)
            lengths = field.lengths
            for document in few:
                if document in many:
                    count, length = postings[document], lengths[document]
                    scores[document] += weight * count / (count + fixed + per_length * length)
    return scores
