"""The features that compare the question, an issue, with a pool of candidates for duplicates.

A term's rarity is its inverse document frequency divided by the largest possible one, in (0, 1]. In some repositories,
and for some questions, unrelated issues are similar, too. So the ranking also compares some features (`COMPARED`) with
the pool: `NAME, above` is how many standard deviations the value lies above the pool's mean, and `NAME, rank` is the
log of its rank, 0 for the first.

| feature | what it says |
|---|---|
| `bm25` | BM25F of the question's words in the candidate's words, by rarity; title words count more |
| `titles` | cosine of both titles' terms, by rarity |
| `title_in_title`, `title_of_candidate` | how much of the question's title, or of the candidate's, is shared |
| `title_in_words` | how much of the question's title the candidate has anywhere |
| `words_in_title` | how much of the candidate's title the question has anywhere |
| `words_shared` | how much of all words of both issues is shared (Jaccard's index, by rarity): 1 for a copy |
| `words_of_question`, `words_of_candidate` | how much of the question's words, or of the candidate's words, is shared |
| `rarest`, `rarest_five` | rarity of the rarest shared word, and sum of the five rarest |
| `codes` | log of the summed rarity of shared codes: names from code, paths, versions |
| `codes_of_question`, `codes_of_candidate`, `rarest_code` | like `words_of_…` and `rarest`, but for codes |
| `messages`, `messages_of_question` | the same as `codes` and `codes_of_question`, for error text |
| `vector_title`, `vector_text`, `vector_both` | cosines; 0 without vectors |
| `ratio` | similarity of the titles' letters, words sorted (rapidfuzz) |
| `same_topic` | 1 if both titles begin with the same `topic:`, -1 if with different ones, else 0 |
| `days` | log of the days between the two |
| `within_a_day`, `within_a_week` | whether both were created within that time; 0 if the authors are known to differ |
| `open` | whether the candidate is open |
| `closed_days`, `lived_days` | log of the days from closing to the question, and from opening to closing; 0 if open |
| `length`, `shorter` | log of the candidate's number of words, and the question's log minus the candidate's log |
| `hub` | mean cosine with the rest of the pool: an umbrella issue resembles everything |
| `feedback` | mean cosine with the best ten of the pool (pseudo relevance feedback) |
| `twin` | the highest cosine with another candidate: high for a repeated report, or for similar forms |
| `same_author` | whether one person wrote both; 0 for a copy |
| `reported` | log of how many issues the question's author wrote before, minus the usual 2.5; 0 if unknown |
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from bot.search.index import Terms, View, idf
from bot.search.index.arrays import Floats, Integers
from bot.search.index.vectors import VectorKind
from bot.search.matching.retrieval import FIELDS, IssueQuery, Pool, by_other_author
from bot.text.titles import subject
from bot.text.words import split_words

_NAMES = """
bm25 titles title_in_title title_of_candidate title_in_words words_in_title words_shared words_of_question
words_of_candidate rarest rarest_five codes codes_of_question codes_of_candidate rarest_code messages
messages_of_question vector_title vector_text vector_both ratio same_topic days within_a_day within_a_week open
closed_days lived_days length shorter hub feedback twin same_author reported
"""
NAMES = tuple(_NAMES.split())

#: From this value of `words_shared` on, a candidate counts as a copy of the question, and `same_author` is 0.
COPY = 0.6
#: Subtracted from `reported`, so that an unknown author's 0 lies between a new author's value and an experienced one's.
USUALLY_REPORTED = 2.5

SMALL = 50
"""The model judges a smaller repository as if it had this many issues: no weights were learned from smaller ones, and
fewer issues do not show which words are rare."""

_DAY = 86_400.0
_DIGITS = 9
_FEEDBACK = 10


def compute_features(question: IssueQuery, pool: Pool, rarity: TermRarity) -> Floats:
    """The features of each candidate, (candidates, NAMES).

    The values are rounded, because their last digits depend on the order in which words came into the index. An index
    built at once must give the same answers as one that grew issue by issue.
    """
    if not pool.issues:
        return np.zeros((0, len(NAMES)))
    columns = _by_terms(question, pool, rarity)
    columns |= _by_titles(question, pool) | _by_times(question, pool, columns["words_shared"])
    columns |= _by_vectors(question, pool, columns["bm25"])
    return np.stack([columns[name] for name in NAMES], axis=1).round(_DIGITS)


def _by_titles(question: IssueQuery, pool: Pool) -> dict[str, Floats]:
    own, topic = _title(question.title)
    titles = [_title(issue.title) for issue in pool.issues]
    sorted_words = [words for words, _ in titles]
    ratios = process.cdist([own], sorted_words, scorer=fuzz.ratio)[0] if own else np.zeros(len(titles))
    same = [(1.0 if topic == its_topic else -1.0) if topic and its_topic else 0.0 for _, its_topic in titles]
    return {"ratio": np.asarray(ratios, dtype=np.float64) / 100, "same_topic": np.array(same)}


def _by_times(question: IssueQuery, pool: Pool, words_shared: Floats) -> dict[str, Floats]:
    """Features of times and authors."""
    created = np.array([issue.created_at for issue in pool.issues], dtype=np.float64)
    closed = np.array([issue.closed_at for issue in pool.issues], dtype=np.float64)
    closed = np.where(np.isnan(closed), created, closed)
    is_open = np.array([issue.state == "open" for issue in pool.issues], dtype=np.float64)
    days = np.abs(question.created_at - created) / _DAY
    since_closing = np.log1p(np.maximum(question.created_at - closed, 0) / _DAY)
    lived = np.log1p(np.maximum(closed - created, 0) / _DAY)
    same_author = np.array([issue.author == question.author for issue in pool.issues]) & bool(question.author)
    same_author &= words_shared < COPY
    # Closeness in time counts only if one person may have written both, because then it suggests a series of related
    # issues. Issues of different people within days may well report one problem.
    maybe_same_author = ~by_other_author(question, pool)
    reported = np.log1p(question.reported) - USUALLY_REPORTED if question.author else 0.0
    return {
        "days": np.log1p(days),
        "within_a_day": (maybe_same_author & (days < 1)).astype(np.float64),
        "within_a_week": (maybe_same_author & (days < 7)).astype(np.float64),
        "open": is_open,
        "closed_days": since_closing * (1 - is_open),
        "lived_days": lived * (1 - is_open),
        "same_author": same_author.astype(np.float64),
        "reported": np.full(len(days), reported),
    }


def _by_vectors(question: IssueQuery, pool: Pool, bm25: Floats) -> dict[str, Floats]:
    count = len(pool.issues)
    if pool.vectors is None or question.vectors is None:
        names = ("vector_title", "vector_text", "vector_both", "hub", "feedback", "twin")
        return dict.fromkeys(names, np.zeros(count))
    # n candidates, k kinds of vectors, d dimensions.
    cosines = np.einsum("nkd,kd->kn", pool.vectors, question.vectors).astype(np.float64)
    both = pool.vectors[:, VectorKind.BOTH]
    between = (both @ both.T).astype(np.float64)
    np.fill_diagonal(between, 0)
    best = np.argsort(-(_standard(bm25) + _standard(cosines[VectorKind.BOTH])), kind="stable")[:_FEEDBACK]
    # How many of the best each candidate is compared with. No candidate is compared with itself.
    compared = len(best) - np.isin(np.arange(count), best)
    return {
        "vector_title": cosines[VectorKind.TITLE],
        "vector_text": cosines[VectorKind.TEXT],
        "vector_both": cosines[VectorKind.BOTH],
        "hub": between.sum(axis=1) / max(count - 1, 1),
        "feedback": between[:, best].sum(axis=1) / np.maximum(compared, 1),
        "twin": between.max(axis=1),
    }


def _standard(values: Floats) -> Floats:
    """How many standard deviations each value lies above the mean."""
    return np.asarray((values - values.mean()) / (values.std() + 1e-9), dtype=np.float64)


@lru_cache(maxsize=1 << 15)
def _title(title: str) -> tuple[str, str]:
    """The sorted words of a title, so that `ratio` does not depend on word order, and the title's topic."""
    title = subject(title)
    topic, colon, _ = title.partition(":")
    return " ".join(sorted(split_words(title.lower()))), topic.strip().lower() if colon else ""


@dataclass(frozen=True, slots=True)
class TermRarity:
    """How rare terms are in one repository of `total` issues. `counts` has each term's number of issues, by field.

    If the index already holds the question's issue, that issue does not count: `own` has its sorted terms by field.
    `average_length` is the mean number of words of all other issues.
    """

    total: int
    counts: Mapping[str, NDArray[np.int32]]
    own: Mapping[str, Integers]
    average_length: float

    @classmethod
    def of(cls, view: View, without: int = 0) -> TermRarity:
        """The rarity in a repository, not counting the issue with the number `without`."""
        indexed = bool(view.issues([without]))
        own, length = {}, None
        if indexed:
            bags = dict(zip(FIELDS, view.terms(np.array([without]), *FIELDS), strict=True))
            own = {field: np.sort(bag.terms.astype(np.int64)) for field, bag in bags.items()}
            length = int(bags["words"].counts.sum(dtype=np.int64))
        counts = {name: view.frequencies(name) for name in FIELDS}
        return cls(view.count - indexed, counts, own, view.average_length("words", length))

    def __call__(self, field: str, terms: NDArray[Any]) -> Floats:
        """The rarity of each term, given by its number; 1 for a new term."""
        counts = self.counts[field]
        if not len(terms) or not len(counts):
            return np.ones(len(terms))
        # `View.frequencies` counts at least 1, even for a known term that no issue has in this field.
        seen = counts.take(terms, mode="clip")
        # New terms have negative numbers. An issue that was added just now may have terms beyond the end of `counts`.
        seen = np.where((terms >= 0) & (terms < len(counts)), seen, 0)
        own = self.own.get(field)
        if own is not None and len(own):
            positions = np.minimum(np.searchsorted(own, terms), len(own) - 1)
            is_own = own[positions] == terms
            seen = np.maximum(seen - is_own, 0)
        total = max(self.total, SMALL)
        # The divisor is the `idf` of a term that no issue has.
        return idf(total, seen) / math.log1p(2 * total + 1)


_TITLE, _WORDS, _CODES, _MESSAGES = range(len(FIELDS))
_K1, _B, _K3 = 1.2, 0.6, 1.5


class _Entries:
    """The terms of all candidates, field by field. An entry is one term in one field of one candidate.

    An entry's cell encodes its field and its candidate: field's position × number of candidates + candidate's position.
    """

    def __init__(self, pool: Pool, rarity: TermRarity) -> None:
        bags = (pool.title, pool.words, pool.codes, pool.messages)
        self._sizes = np.concatenate([np.diff(bag.starts) for bag in bags])
        self.cells: Integers = np.repeat(np.arange(len(self._sizes)), self._sizes)
        self.terms = np.concatenate([bag.terms for bag in bags])
        self.counts = np.concatenate([bag.counts for bag in bags])
        self.rarity = np.concatenate([rarity(field, bag.terms) for field, bag in zip(FIELDS, bags, strict=True)])

    def sums(self, values: NDArray[Any], fields: slice = slice(None)) -> Floats:
        """Sum `values`, one for each entry of these fields, by cell: (fields, candidates)."""
        sizes = self._sizes.reshape(len(FIELDS), -1)[fields]
        sums = np.zeros(sizes.size)
        # A cell's entries lie together. For an empty cell, `reduceat` would give the next cell's first value.
        filled = np.flatnonzero(sizes)
        if len(filled):
            starts = np.cumsum(sizes) - sizes.ravel()
            sums[filled] = np.add.reduceat(values, starts[filled], dtype=np.float64)
        return sums.reshape(sizes.shape)


class _Shared:
    """The entries whose term is in `own`, the question's sorted terms. `positions` has each term's position in `own`.

    A term number stands for one kind of term only (word, code or message), so one look-up serves all fields.
    """

    def __init__(self, own: Integers, entries: _Entries) -> None:
        at = np.flatnonzero(np.isin(entries.terms, own, kind="table"))
        self.positions: Integers = np.searchsorted(own, entries.terms[at])
        self.cells, self.counts, self.rarity = entries.cells[at], entries.counts[at], entries.rarity[at]


def _by_terms(question: IssueQuery, pool: Pool, rarity: TermRarity) -> dict[str, Floats]:
    known, candidates = question.known, len(pool.issues)
    entries = _Entries(pool, rarity)
    # Skip the field `title`: a text's words include its title words.
    unsorted = np.concatenate([known[field].terms for field in FIELDS[1:]])
    # `order[i]` is the position of the term `own[i]` in `unsorted`. There, words come before codes and messages.
    order = np.argsort(unsorted)
    own = unsorted[order]
    in_title = np.zeros(len(own), dtype=np.bool_)
    in_title[np.searchsorted(own, known["title"].terms)] = True
    shared = _Shared(own, entries)

    def by_field(cells: Integers, values: NDArray[Any]) -> Floats:
        return _sums(cells, values, len(FIELDS) * candidates).reshape(len(FIELDS), candidates)

    of_title = np.flatnonzero(in_title[shared.positions])
    candidate_sums, shared_sums = entries.sums(entries.rarity), by_field(shared.cells, shared.rarity)
    shared_title_sums = by_field(shared.cells[of_title], shared.rarity[of_title])
    squares = by_field(shared.cells[of_title], shared.rarity[of_title] ** 2)[_TITLE]
    rarities = {field: rarity(field, known[field].terms) for field in FIELDS}
    own_sums = {field: float(values.sum()) for field, values in rarities.items()}
    title_sum_in_words = float(rarity("words", known["title"].terms).sum())
    # Entries come field by field: those of titles first, then those of words.
    words_start, words_end = len(pool.title.terms), len(pool.title.terms) + len(pool.words.terms)
    (squared_norms,) = entries.sums(entries.rarity[:words_start] ** 2, slice(_TITLE, _TITLE + 1))
    (lengths,) = entries.sums(entries.counts[words_start:words_end], slice(_WORDS, _WORDS + 1))
    log_lengths = np.log1p(lengths)
    rarest, rarest_five, rarest_code = _rarest(shared, candidates)
    return {
        "bm25": _bm25(known, shared, order, lengths, rarity.average_length),
        "titles": _share(squares, np.sqrt(squared_norms * (rarities["title"] ** 2).sum())),
        "title_in_title": _share(shared_title_sums[_TITLE], own_sums["title"]),
        "title_of_candidate": _share(shared_title_sums[_TITLE], candidate_sums[_TITLE]),
        "title_in_words": _share(shared_title_sums[_WORDS], title_sum_in_words),
        "words_in_title": _share(shared_sums[_TITLE], candidate_sums[_TITLE]),
        "words_shared": _share(shared_sums[_WORDS], own_sums["words"] + candidate_sums[_WORDS] - shared_sums[_WORDS]),
        "words_of_question": _share(shared_sums[_WORDS], own_sums["words"]),
        "words_of_candidate": _share(shared_sums[_WORDS], candidate_sums[_WORDS]),
        "rarest": rarest,
        "rarest_five": rarest_five,
        "codes": np.log1p(shared_sums[_CODES]),
        "codes_of_question": _share(shared_sums[_CODES], own_sums["codes"]),
        "codes_of_candidate": _share(shared_sums[_CODES], candidate_sums[_CODES]),
        "rarest_code": rarest_code,
        "messages": np.log1p(shared_sums[_MESSAGES]),
        "messages_of_question": _share(shared_sums[_MESSAGES], own_sums["messages"]),
        "length": log_lengths,
        "shorter": np.log1p(known["words"].counts.sum()) - log_lengths,
    }


def _bm25(known: Mapping[str, Terms], shared: _Shared, order: Integers, lengths: Floats, usual: float) -> Floats:
    """BM25. `order` maps words' `shared.positions` to positions in `known["words"]`; `usual` is the average length."""
    candidates = len(lengths)
    start, end = np.searchsorted(shared.cells, [_WORDS * candidates, (_WORDS + 1) * candidates])
    rows = shared.cells[start:end] - _WORDS * candidates
    counts = shared.counts[start:end].astype(np.float64)
    asked = known["words"].counts
    often = (asked * (1 + _K3) / (asked + _K3))[order[shared.positions[start:end]]]
    spread = _K1 * (1 - _B + _B * lengths / usual)
    saturated = counts * (_K1 + 1) / (counts + spread[rows])
    return _sums(rows, shared.rarity[start:end] * often * saturated, candidates)


def _rarest(shared: _Shared, candidates: int) -> tuple[Floats, Floats, Floats]:
    """For each candidate, the rarity of its rarest shared word, of its five rarest together, and of its rarest code."""
    start, end = np.searchsorted(shared.cells, [_WORDS * candidates, (_CODES + 1) * candidates])
    cells, rarity = shared.cells[start:end] - _WORDS * candidates, shared.rarity[start:end]
    # Cells below `candidates` are of words, the others of codes.
    # `cells` is ascending already, and rarity / 2 is below 1. So this sorts only within each cell, rarest first.
    rarity = rarity[np.argsort(cells - rarity / 2)]
    cell_starts = np.searchsorted(cells, np.arange(2 * candidates))
    ranks = np.arange(len(cells)) - cell_starts[cells]
    first, five = ranks < 1, ranks < 5
    rarest, rarest_five = (_sums(cells[few], rarity[few], 2 * candidates) for few in (first, five))
    return rarest[:candidates], rarest_five[:candidates], rarest[candidates:]


def _sums(positions: Integers, values: NDArray[Any], length: int) -> Floats:
    """The sum of the values at each position."""
    return np.bincount(positions, values, length).astype(np.float64, copy=False)


def _share(part: Floats, whole: Floats | float) -> Floats:
    """`part` divided by `whole`; 0 if both are 0."""
    return np.asarray(part / np.where(np.asarray(whole) > 0, whole, 1.0), dtype=np.float64)


_COMPARED = """
bm25 titles title_in_words words_in_title words_shared words_of_question rarest_five codes messages vector_title
vector_text vector_both ratio feedback
"""
COMPARED = tuple(_COMPARED.split())
RANKING_NAMES = (*NAMES, *(f"{name}, above" for name in COMPARED), *(f"{name}, rank" for name in COMPARED))

# Values that agree to this many decimals count as equal.
_RANK_DIGITS = 5

_COLUMNS = [NAMES.index(name) for name in COMPARED]


def with_pool_ranks(values: Floats) -> Floats:
    """Append each compared feature's `above` and `rank`: (candidates, NAMES) → (candidates, RANKING_NAMES)."""
    if not len(values):
        return np.zeros((0, len(RANKING_NAMES)))
    compared = np.ascontiguousarray(values.T[_COLUMNS])
    deviations = compared - compared.mean(axis=1, keepdims=True)
    above = deviations / (np.sqrt((deviations**2).mean(axis=1, keepdims=True)) + 1e-6)
    return np.hstack([values, above.T, np.log1p(_ranks(compared)).T])


def _ranks(rows: Floats) -> Floats:
    """For each value, how many values of its row are above it."""
    # Round: vectors' products vary slightly with the number of threads, but equal values must stay equal.
    rows = np.round(rows, _RANK_DIGITS)
    return np.stack([len(row) - np.searchsorted(np.sort(row), row, side="right") for row in rows]).astype(np.float64)
