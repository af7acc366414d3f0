"""The features by which two issues are compared: pure functions over a pool of candidates, in arrays.

Those about terms are in `shared_terms.py`, where a term's rarity is defined too.

| feature | what it says |
|---|---|
| `bm25` | BM25F of the question's words in the candidate's, by rarity |
| `titles` | cosine of both titles' terms, by rarity |
| `title_in_title`, `title_of_candidate` | how much of the question's title the candidate's title has, and the reverse |
| `title_in_words` | how much of the question's title the candidate has anywhere |
| `words_in_title` | how much of the candidate's title the question has anywhere |
| `words_shared` | shared part of all words of both (Jaccard's index, by rarity): 1 for a copy |
| `words_of_question`, `words_of_candidate` | the shared part of either |
| `rarest`, `rarest_five` | rarity of the rarest shared term, and sum of the five rarest |
| `codes`, `codes_of_question`, `codes_of_candidate`, `rarest_code` | the same for names from code, paths, versions |
| `messages`, `messages_of_question` | log of the rarity of shared error text, and its part of the question's |
| `vector_title`, `vector_text`, `vector_both` | cosines; 0 without vectors |
| `ratio` | likeness of the titles' letters, words sorted (rapidfuzz) |
| `same_topic` | 1 where both titles begin with the same `topic:`, -1 where with different ones |
| `days` | log of the days between the two |
| `within_a_day`, `within_a_week` | whether they are that close, unless they are known to be by two people |
| `open` | whether the candidate is open |
| `closed_days`, `lived_days` | log of the days since it was closed, and of those that it was open until then; else 0 |
| `length`, `shorter` | log of the candidate's words, and by how much it is shorter than the question |
| `hub` | mean cosine with the rest of the pool: an umbrella resembles everything |
| `feedback` | cosine with the mean of the best ten of the pool (pseudo relevance feedback) |
| `twin` | the highest cosine with another of the pool: somebody reported it before, or forms are alike |
| `same_author` | whether one person wrote both; 0 for a copy |
| `reported` | log of how many issues the author wrote before, less 2.5, which is usual; 0 where nobody knows |
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from rapidfuzz import fuzz, process

from bot.search.index import IndexedIssue
from bot.search.index.packing import Floats
from bot.search.index.vectors import VectorKind
from bot.search.matching.retrieval import IssueQuery, Pool, by_other_author
from bot.search.matching.shared_terms import TermRarity, _by_terms
from bot.text.titles import subject
from bot.text.words import split_words

_NAMES = """
bm25 titles title_in_title title_of_candidate title_in_words words_in_title words_shared words_of_question
words_of_candidate rarest rarest_five codes codes_of_question codes_of_candidate rarest_code messages
messages_of_question vector_title vector_text vector_both ratio same_topic days within_a_day within_a_week open
closed_days lived_days length shorter hub feedback twin same_author reported
"""
NAMES = tuple(_NAMES.split())

#: Texts that share this part of their words are nearly equal; the same author is no evidence then.
COPY = 0.6
#: Subtracted from `reported`, so that an unknown author counts as neither new nor experienced.
USUALLY_REPORTED = 2.5

_DAY = 86_400.0
_DIGITS = 9
_FEEDBACK = 10


def features(question: IssueQuery, pool: Pool, rarity: TermRarity) -> Floats:
    """(candidates, NAMES).

    They are rounded, because the last digits depend on the order in which words came into the index. So an index that
    was read at once gives the same answers as one that grew issue by issue.
    """
    if not pool.issues:
        return np.zeros((0, len(NAMES)))
    columns = _by_terms(question, pool, rarity)
    columns |= _by_titles(question, pool) | _by_times(question, pool, columns["words_shared"])
    columns |= _by_vectors(question, pool, columns["bm25"])
    return np.stack([columns[name] for name in NAMES], axis=1).round(_DIGITS)


def _by_titles(question: IssueQuery, pool: Pool) -> dict[str, Floats]:
    mine, topic = _title(question.title)
    theirs = [_title(issue.title) for issue in pool.issues]
    plain = [plain for plain, _ in theirs]
    ratios = process.cdist([mine], plain, scorer=fuzz.ratio)[0] if mine else np.zeros(len(plain))
    same = [0.0 if not topic or not other else 1.0 if topic == other else -1.0 for _, other in theirs]
    return {"ratio": np.asarray(ratios, dtype=np.float64) / 100, "same_topic": np.array(same)}


def _by_times(question: IssueQuery, pool: Pool, words_shared: Floats) -> dict[str, Floats]:
    """Features by times and authors: one person's series shows in both."""
    fields = dict(zip(IndexedIssue._fields, zip(*pool.issues, strict=True), strict=True))
    created = np.array(fields["created_at"], dtype=np.float64)
    closed = np.array(fields["closed_at"], dtype=np.float64)
    closed = np.where(np.isnan(closed), created, closed)
    opened = np.array([state == "open" for state in fields["state"]], dtype=np.float64)
    days = np.abs(question.created_at - created) / _DAY
    since = np.log1p(np.maximum(question.created_at - closed, 0) / _DAY)
    lived = np.log1p(np.maximum(closed - created, 0) / _DAY)
    author = np.array([author == question.author for author in fields["author"]]) & bool(question.author)
    author &= words_shared < COPY
    # One person files related issues in a row, but other people who come so soon may have met the same problem.
    in_a_row = ~by_other_author(question, pool)
    reported = np.log1p(question.reported) - USUALLY_REPORTED if question.author else 0.0
    return {
        "days": np.log1p(days),
        "within_a_day": (in_a_row & (days < 1)).astype(np.float64),
        "within_a_week": (in_a_row & (days < 7)).astype(np.float64),
        "open": opened,
        "closed_days": since * (1 - opened),
        "lived_days": lived * (1 - opened),
        "same_author": author.astype(np.float64),
        "reported": np.full(len(days), reported),
    }


def _by_vectors(question: IssueQuery, pool: Pool, bm25: Floats) -> dict[str, Floats]:
    count = len(pool.issues)
    if pool.vectors is None or question.vectors is None:
        names = ("vector_title", "vector_text", "vector_both", "hub", "feedback", "twin")
        return dict.fromkeys(names, np.zeros(count))
    cosines = np.einsum("nkd,kd->kn", pool.vectors, question.vectors).astype(np.float64)
    both = pool.vectors[:, VectorKind.BOTH]
    between = (both @ both.T).astype(np.float64)
    np.fill_diagonal(between, 0)
    best = np.argsort(-(_standard(bm25) + _standard(cosines[VectorKind.BOTH])), kind="stable")[:_FEEDBACK]
    # A candidate among the best does not count itself.
    others = len(best) - np.isin(np.arange(count), best)
    return {
        "vector_title": cosines[VectorKind.TITLE],
        "vector_text": cosines[VectorKind.TEXT],
        "vector_both": cosines[VectorKind.BOTH],
        "hub": between.sum(axis=1) / max(count - 1, 1),
        "feedback": between[:, best].sum(axis=1) / np.maximum(others, 1),
        "twin": between.max(axis=1),
    }


def _standard(values: Floats) -> Floats:
    return np.asarray((values - values.mean()) / (values.std() + 1e-9), dtype=np.float64)


@lru_cache(maxsize=1 << 15)
def _title(title: str) -> tuple[str, str]:
    """The words of a title, sorted, so that `ratio` does not depend on their order; and its topic."""
    title = subject(title)
    topic, colon, _ = title.partition(":")
    return " ".join(sorted(split_words(title.lower()))), topic.strip().lower() if colon else ""
