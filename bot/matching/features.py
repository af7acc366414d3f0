"""What speaks for two issues being the same, as numbers: pure functions over a pool of candidates, in arrays.

A term's rarity is its inverse document frequency divided by the largest that there can be, in (0, 1].

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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from bot.index import Bags, IndexedIssue, Terms, View, idf
from bot.index.packing import Floats, Integers
from bot.index.vectors import Kind, Vectors, products
from bot.matching.question import Question
from bot.model import NOBODY
from bot.text.words import split_words

NAMES = (
    "bm25",
    "titles",
    "title_in_title",
    "title_of_candidate",
    "title_in_words",
    "words_in_title",
    "words_shared",
    "words_of_question",
    "words_of_candidate",
    "rarest",
    "rarest_five",
    "codes",
    "codes_of_question",
    "codes_of_candidate",
    "rarest_code",
    "messages",
    "messages_of_question",
    "vector_title",
    "vector_text",
    "vector_both",
    "ratio",
    "same_topic",
    "days",
    "within_a_day",
    "within_a_week",
    "open",
    "closed_days",
    "lived_days",
    "length",
    "shorter",
    "hub",
    "feedback",
    "twin",
    "same_author",
    "reported",
)

#: With fewer issues than this a repository cannot tell which words are rare: they are weighed as if it had as many.
SMALL = 50
#: From this part of shared words on, texts are nearly equal: that one person wrote both says nothing then.
COPY = 0.6
#: What `reported` is taken from, so that an author whom nobody knows is neither new nor experienced.
USUALLY_REPORTED = 2.5

#: The fields of the index that are compared.
FIELDS = ("title", "words", "codes", "messages")

_TITLE, _WORDS, _CODES, _MESSAGES = range(len(FIELDS))
_LOW_COUNTS = 4_096
_LOW = 0xFFFF
_DAY = 86_400.0
_K1, _B, _K3 = 1.2, 0.6, 1.5
_FEEDBACK = 10


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidates of one question, in any order. `vectors` are (issues, 3, dimensions), or None."""

    issues: Sequence[IndexedIssue]
    title: Bags
    words: Bags
    codes: Bags
    messages: Bags
    vectors: Vectors | None


@dataclass(frozen=True, slots=True)
class Rarity:
    """How rare terms are in one repository: `counts` by field and term's number, of `total` issues."""

    total: int
    counts: Mapping[str, NDArray[np.int32]]
    average_length: float

    @classmethod
    def of(cls, view: View, without: int = 0) -> Rarity:
        """`without` is an issue that is left out, if it is there: its own words are no evidence about it."""
        counts = {name: view.frequencies(name) for name in FIELDS}
        there = bool(view.issues([without]))
        if there:
            own = view.terms(np.array([without]), *FIELDS)
            counts = {name: _less(counts[name], bag.terms) for name, bag in zip(FIELDS, own, strict=True)}
        return cls(view.count - there, counts, view.average_length("words"))

    def __call__(self, field: str, terms: NDArray[Any]) -> Floats:
        """The rarity of each term, by its number; 1 for one that is new."""
        counts = self.counts[field]
        if not len(terms) or not len(counts):
            return np.ones(len(terms))
        seen = counts.take(terms, mode="clip")
        # A text's new terms have negative numbers; those of an issue that was added just now may be too high.
        if terms.max() >= len(counts) or (terms.dtype.kind == "i" and terms.min() < 0):
            seen = np.where((terms >= 0) & (terms < len(counts)), seen, 0)
        total = max(self.total, SMALL)
        usual = _rarities(total)
        rarity: Floats = usual.take(seen, mode="clip")
        if seen.max() >= len(usual):
            often = np.flatnonzero(seen >= len(usual))
            rarity[often] = idf(total, seen[often]) / idf(total, np.zeros(1))
        return rarity


def _less(counts: NDArray[np.int32], terms: NDArray[np.uint32]) -> NDArray[np.int32]:
    """The counts without one issue that has these terms."""
    left = counts.copy()
    left[terms[terms < len(left)]] -= 1
    return np.maximum(left, 0)


@lru_cache(maxsize=16)
def _rarities(total: int) -> Floats:
    """The rarity of terms that occur in 0, 1, 2, … of so many issues, of the lower counts alone, which most have."""
    return idf(total, np.arange(_LOW_COUNTS)) / float(idf(total, np.zeros(1))[0])


def load(view: View, numbers: Integers, with_vectors: bool) -> tuple[Integers, Pool]:
    """The pool of those of the numbers that are there, and which they are."""
    issues = view.issues(numbers.tolist())
    there = np.array([number for number in numbers.tolist() if number in issues], dtype=np.int64)
    title, words, codes, messages = view.terms(there, *FIELDS)
    vectors = view.vectors(there) if with_vectors else None
    return there, Pool([issues[number] for number in there.tolist()], title, words, codes, messages, vectors)


def features(question: Question, pool: Pool, rarity: Rarity) -> Floats:
    """(candidates, NAMES)."""
    if not pool.issues:
        return np.zeros((0, len(NAMES)))
    columns = _by_terms(question, pool, rarity)
    columns |= _by_titles(question, pool) | _by_times(question, pool, columns["words_shared"])
    columns |= _by_vectors(question, pool, columns["bm25"])
    return np.stack([columns[name] for name in NAMES], axis=1)


def by_others(question: Question, pool: Pool) -> NDArray[np.bool_]:
    """Which candidates are known to be by somebody else than the question."""
    if not question.author:
        return np.zeros(len(pool.issues), dtype=np.bool_)
    not_others = {question.author, "", NOBODY}
    return np.array([one.author not in not_others for one in pool.issues], dtype=np.bool_)


def by_author(question: Question, pool: Pool) -> NDArray[np.bool_]:
    """Which candidates are known to be by who asks the question."""
    known = bool(question.author) and question.author != NOBODY
    return np.array([known and one.author == question.author for one in pool.issues], dtype=np.bool_)


class _Entries:
    """The terms of all candidates in all of `FIELDS`, entry by entry, those of one field after those of another.

    `cells` says whose entry it is: the field's position × candidates + the candidate's.
    """

    def __init__(self, pool: Pool, rarity: Rarity) -> None:
        bags = (pool.title, pool.words, pool.codes, pool.messages)
        self._sizes = np.concatenate([np.diff(bag.starts) for bag in bags])
        self.cells: Integers = np.repeat(np.arange(len(self._sizes)), self._sizes)
        self.terms = np.concatenate([bag.terms for bag in bags])
        self.counts = np.concatenate([bag.counts for bag in bags])
        self.rarity = np.concatenate([rarity(field, bag.terms) for field, bag in zip(FIELDS, bags, strict=True)])

    def sums(self, values: NDArray[Any], fields: slice = slice(None)) -> Floats:
        """(fields, candidates): the sum of each cell's values, which are those of all entries of these fields."""
        sizes = self._sizes.reshape(len(FIELDS), -1)[fields]
        sums = np.zeros(sizes.size)
        # What is summed up lies together, so that it can be added without asking where to; empty cells would get
        # the next one's first value.
        filled = np.flatnonzero(sizes)
        if len(filled):
            starts = np.cumsum(sizes) - sizes.ravel()
            sums[filled] = np.add.reduceat(values, starts[filled], dtype=np.float64)
        return sums.reshape(sizes.shape)


class _Shared:
    """The entries that have a term of the question, in their order, with the term's place in `own`, which ascends.

    Which number a term has says in which space it is, so all fields are looked through at once.
    """

    def __init__(self, own: Integers, entries: _Entries) -> None:
        # Nearly all entries are told apart by the last bits of their term.
        likely = np.zeros(_LOW + 1, dtype=np.bool_)
        likely[own & _LOW] = True
        near = np.flatnonzero(likely.take(entries.terms & np.uint32(_LOW)))
        terms = entries.terms[near].astype(np.int64)
        places = np.minimum(np.searchsorted(own, terms), max(len(own) - 1, 0))
        same = np.flatnonzero(own[places] == terms) if len(own) else np.zeros(0, dtype=np.int64)
        at = near[same]
        self.places: Integers = places[same]
        self.cells, self.counts, self.rarity = entries.cells[at], entries.counts[at], entries.rarity[at]


def _by_terms(question: Question, pool: Pool, rarity: Rarity) -> dict[str, Floats]:
    known, candidates = question.known, len(pool.issues)
    entries = _Entries(pool, rarity)
    # The words of a text are those of its title, too.
    own = np.concatenate([known[field].terms for field in FIELDS[1:]])
    order = np.argsort(own)
    own = own[order]
    in_title = np.zeros(len(own), dtype=np.bool_)
    in_title[np.searchsorted(own, known["title"].terms)] = True
    shared = _Shared(own, entries)

    def by_field(cells: Integers, values: NDArray[Any]) -> Floats:
        return _sums(cells, values, len(FIELDS) * candidates).reshape(len(FIELDS), candidates)

    of_title = np.flatnonzero(in_title[shared.places])
    masses, both = entries.sums(entries.rarity), by_field(shared.cells, shared.rarity)
    with_title = by_field(shared.cells[of_title], shared.rarity[of_title])
    squares = by_field(shared.cells[of_title], shared.rarity[of_title] ** 2)[_TITLE]
    mine = {field: rarity(field, known[field].terms) for field in FIELDS}
    mass = {field: float(values.sum()) for field, values in mine.items()}
    title_in_words = float(rarity("words", known["title"].terms).sum())
    titles, words = len(pool.title.terms), len(pool.words.terms)
    (norms,) = entries.sums(entries.rarity[:titles] ** 2, slice(_TITLE, _TITLE + 1))
    (lengths,) = entries.sums(entries.counts[titles : titles + words], slice(_WORDS, _WORDS + 1))
    length = np.log1p(lengths)
    rarest, rarest_five, rarest_code = _rarest(shared, candidates)
    return {
        "bm25": _bm25(known, shared, order, lengths, rarity.average_length),
        "titles": _part(squares, np.sqrt(norms * (mine["title"] ** 2).sum())),
        "title_in_title": _part(with_title[_TITLE], mass["title"]),
        "title_of_candidate": _part(with_title[_TITLE], masses[_TITLE]),
        "title_in_words": _part(with_title[_WORDS], title_in_words),
        "words_in_title": _part(both[_TITLE], masses[_TITLE]),
        "words_shared": _part(both[_WORDS], mass["words"] + masses[_WORDS] - both[_WORDS]),
        "words_of_question": _part(both[_WORDS], mass["words"]),
        "words_of_candidate": _part(both[_WORDS], masses[_WORDS]),
        "rarest": rarest,
        "rarest_five": rarest_five,
        "codes": np.log1p(both[_CODES]),
        "codes_of_question": _part(both[_CODES], mass["codes"]),
        "codes_of_candidate": _part(both[_CODES], masses[_CODES]),
        "rarest_code": rarest_code,
        "messages": np.log1p(both[_MESSAGES]),
        "messages_of_question": _part(both[_MESSAGES], mass["messages"]),
        "length": length,
        "shorter": np.log1p(known["words"].counts.sum()) - length,
    }


def _bm25(known: Mapping[str, Terms], shared: _Shared, order: Integers, lengths: Floats, usual: float) -> Floats:
    """`order` leads from the places of shared terms to the question's own; `usual` is the average length."""
    candidates = len(lengths)
    start, end = np.searchsorted(shared.cells, [_WORDS * candidates, (_WORDS + 1) * candidates])
    rows = shared.cells[start:end] - _WORDS * candidates
    counts = shared.counts[start:end].astype(np.float64)
    asked = known["words"].counts
    often = (asked * (1 + _K3) / (asked + _K3))[order[shared.places[start:end]]]
    spread = _K1 * (1 - _B + _B * lengths / usual)
    saturated = counts * (_K1 + 1) / (counts + spread[rows])
    return _sums(rows, shared.rarity[start:end] * often * saturated, candidates)


def _rarest(shared: _Shared, candidates: int) -> tuple[Floats, Floats, Floats]:
    """Of each candidate the rarest shared word, the sum of the five rarest, and the rarest shared code."""
    start, end = np.searchsorted(shared.cells, [_WORDS * candidates, (_CODES + 1) * candidates])
    cells, rarity = shared.cells[start:end] - _WORDS * candidates, shared.rarity[start:end]
    # Cells ascend by one, and no rarity is above one: a cell's entries stay together, the rarest first.
    rarity = rarity[np.argsort(cells - rarity / 2)]
    ranks = np.arange(len(cells)) - np.searchsorted(cells, np.arange(2 * candidates))[cells]
    first, five = ranks < 1, ranks < 5
    rarest, rarest_five = (_sums(cells[few], rarity[few], 2 * candidates) for few in (first, five))
    return rarest[:candidates], rarest_five[:candidates], rarest[candidates:]


def _by_titles(question: Question, pool: Pool) -> dict[str, Floats]:
    mine, topic = _title(question.title)
    theirs = [_title(issue.title) for issue in pool.issues]
    plain = [plain for plain, _ in theirs]
    ratios = process.cdist([mine], plain, scorer=fuzz.ratio)[0] if mine else np.zeros(len(plain))
    same = [0.0 if not topic or not other else 1.0 if topic == other else -1.0 for _, other in theirs]
    return {"ratio": np.asarray(ratios, dtype=np.float64) / 100, "same_topic": np.array(same)}


def _by_times(question: Question, pool: Pool, words_shared: Floats) -> dict[str, Floats]:
    """By authors as well, since one person's series is told by both."""
    told = dict(zip(IndexedIssue._fields, zip(*pool.issues, strict=True), strict=True))
    created = np.array(told["created_at"], dtype=np.float64)
    closed = np.array(told["closed_at"], dtype=np.float64)
    closed = np.where(np.isnan(closed), created, closed)
    opened = np.array([state == "open" for state in told["state"]], dtype=np.float64)
    days = np.abs(question.created_at - created) / _DAY
    since = np.log1p(np.maximum(question.created_at - closed, 0) / _DAY)
    lived = np.log1p(np.maximum(closed - created, 0) / _DAY)
    author = np.array([author == question.author for author in told["author"]]) & bool(question.author)
    author &= words_shared < COPY
    # Who files related issues in a row is one person; others who come so soon may well have met the same thing.
    in_a_row = ~by_others(question, pool)
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


def _by_vectors(question: Question, pool: Pool, bm25: Floats) -> dict[str, Floats]:
    count = len(pool.issues)
    if pool.vectors is None or question.vectors is None:
        names = ("vector_title", "vector_text", "vector_both", "hub", "feedback", "twin")
        return dict.fromkeys(names, np.zeros(count))
    cosines = np.einsum("nkd,kd->kn", pool.vectors, question.vectors).astype(np.float64)
    both = pool.vectors[:, Kind.BOTH]
    between = products(both).astype(np.float64)
    np.fill_diagonal(between, 0)
    best = np.argsort(-(_standard(bm25) + _standard(cosines[Kind.BOTH])), kind="stable")[:_FEEDBACK]
    # A candidate among the best is not compared with itself.
    others = len(best) - np.isin(np.arange(count), best)
    return {
        "vector_title": cosines[Kind.TITLE],
        "vector_text": cosines[Kind.TEXT],
        "vector_both": cosines[Kind.BOTH],
        "hub": between.sum(axis=1) / max(count - 1, 1),
        "feedback": between[:, best].sum(axis=1) / np.maximum(others, 1),
        "twin": between.max(axis=1),
    }


def _standard(values: Floats) -> Floats:
    return np.asarray((values - values.mean()) / (values.std() + 1e-9), dtype=np.float64)


def _sums(places: Integers, values: NDArray[Any], length: int) -> Floats:
    """The sum of the values at each place; zero where there are none."""
    return np.bincount(places, values, length).astype(np.float64, copy=False)


def _part(part: Floats, whole: Floats | float) -> Floats:
    return np.asarray(part / np.where(np.asarray(whole) > 0, whole, 1.0), dtype=np.float64)


@lru_cache(maxsize=1 << 15)
def _title(title: str) -> tuple[str, str]:
    """The words of a title, sorted, so that their order does not count when its letters are compared, and its topic."""
    topic, colon, _ = title.partition(":")
    return " ".join(sorted(split_words(title.lower()))), topic.strip().lower() if colon else ""
