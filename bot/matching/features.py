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
| `within_a_day`, `within_a_week` | whether they are that close |
| `open` | whether the candidate is open |
| `closed_days`, `lived_days` | log of the days since it was closed, and of those that it was open until then; else 0 |
| `length`, `shorter` | log of the candidate's words, and by how much it is shorter than the question |
| `hub` | mean cosine with the rest of the pool: an umbrella resembles everything |
| `feedback` | cosine with the mean of the best ten of the pool (pseudo relevance feedback) |
| `twin` | the highest cosine with another of the pool: somebody reported it before, or forms are alike |
| `same_author`, `same_author_lately` | whether one person wrote both, and both within three days |
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
from bot.matching.question import Question, known_author
from bot.ranking.words import split_words

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
    "same_author_lately",
)

#: With fewer issues than this a repository cannot tell which words are rare: they are weighed as if it had as many.
SMALL = 50
#: Two issues of one author within so many days are a series more often than a repetition.
LATELY = 3.0

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
    def of(cls, view: View) -> Rarity:
        fields = ("title", "words", "codes", "messages")
        return cls(view.count, {name: view.frequencies(name) for name in fields}, view.average_length("words"))

    def __call__(self, field: str, terms: NDArray[Any]) -> Floats:
        """The rarity of each term, by its number; 1 for one that is new."""
        counts = self.counts[field]
        # A text's new terms have negative numbers; those of an issue that was added just now may be too high.
        known = (terms >= 0) & (terms < len(counts))
        seen = counts.take(terms, mode="clip") if len(counts) else np.zeros(len(terms))
        if not known.all():
            seen = np.where(known, seen, 0)
        total = max(self.total, SMALL)
        return idf(total, seen) / float(idf(total, np.zeros(1))[0])


def load(view: View, numbers: Integers, with_vectors: bool) -> tuple[Integers, Pool]:
    """The pool of those of the numbers that are there, and which they are."""
    issues = view.issues(numbers.tolist())
    there = np.array([number for number in numbers.tolist() if number in issues], dtype=np.int64)
    title, words, codes, messages = view.terms(there, "title", "words", "codes", "messages")
    vectors = view.vectors(there) if with_vectors else None
    return there, Pool([issues[number] for number in there.tolist()], title, words, codes, messages, vectors)


def features(question: Question, pool: Pool, rarity: Rarity) -> Floats:
    """(candidates, NAMES)."""
    columns = _by_terms(question, pool, rarity) | _by_titles(question, pool) | _by_times(question, pool)
    columns |= _by_vectors(question, pool, columns["bm25"])
    return np.stack([columns[name] for name in NAMES], axis=1) if pool.issues else np.zeros((0, len(NAMES)))


def by_others(question: Question, pool: Pool) -> NDArray[np.bool_]:
    """Which candidates are known to be by somebody else than the question."""
    authors = [known_author(issue.author) for issue in pool.issues]
    return np.array([bool(author and question.author) and author != question.author for author in authors], dtype=bool)


class _Column:
    """One field of all candidates, entry by entry: whose it is, and how rare the term is."""

    def __init__(self, bags: Bags, rarity: Rarity, field: str) -> None:
        self.bags, self.field, self.of = bags, field, rarity
        self.rows, self.rarity = bags.rows, rarity(field, bags.terms)
        self.masses = self.per_row(self.rows, self.rarity)

    def per_row(self, rows: Integers, values: Floats) -> Floats:
        return np.bincount(rows, values, len(self.bags)).astype(np.float64)


class _Match:
    """One field of the question against a column; `mass` is the sum of the rarities of the question's terms.

    `entries` are those of the column that both have. `within` is a match of the same column with more terms, all of
    these among them: what that did not find need not be looked through again.
    """

    def __init__(self, mine: Terms, column: _Column, within: _Match | None = None) -> None:
        self.column = column
        order = np.argsort(mine.terms)
        own = mine.terms[order]
        self.own = column.of(column.field, own)
        self.mass = float(self.own.sum())
        self.mine_counts = mine.counts[order]
        terms = column.bags.terms if within is None else column.bags.terms[within.entries]
        places = np.minimum(np.searchsorted(own, terms), max(len(own) - 1, 0))
        hit = np.flatnonzero(own[places] == terms) if len(own) else np.zeros(0, dtype=np.int64)
        self.entries: Integers = hit if within is None else within.entries[hit]
        self.places = places[hit]
        self.rows, self.rarity = column.rows[self.entries], column.rarity[self.entries]
        self.shared = column.per_row(self.rows, self.rarity)

    @property
    def counts(self) -> Floats:
        return self.column.bags.counts[self.entries].astype(np.float64)

    @property
    def of_question(self) -> Floats:
        return _part(self.shared, self.mass)

    @property
    def of_candidate(self) -> Floats:
        return _part(self.shared, self.column.masses)

    def rarest(self, *most: int) -> list[Floats]:
        """For each k the sum of each candidate's k rarest shared terms."""
        order = np.lexsort((-self.rarity, self.rows))
        rows, rarity = self.rows[order], self.rarity[order]
        starts = np.searchsorted(rows, np.arange(len(self.column.bags)))
        places = np.arange(len(rows)) - starts[rows]
        return [self.column.per_row(rows[places < k], rarity[places < k]) for k in most]


def _by_terms(question: Question, pool: Pool, rarity: Rarity) -> dict[str, Floats]:
    known = question.known
    in_title, in_words = _Column(pool.title, rarity, "title"), _Column(pool.words, rarity, "words")
    words, words_in_title = _Match(known["words"], in_words), _Match(known["words"], in_title)
    # The words of a text are those of its title, too.
    title, title_in_words = _Match(known["title"], in_title, words_in_title), _Match(known["title"], in_words, words)
    codes = _Match(known["codes"], _Column(pool.codes, rarity, "codes"))
    messages = _Match(known["messages"], _Column(pool.messages, rarity, "messages"))
    lengths = np.bincount(in_words.rows, pool.words.counts, len(pool.words))
    norms = np.sqrt(in_title.per_row(in_title.rows, in_title.rarity**2) * (title.own**2).sum())
    spread = _K1 * (1 - _B + _B * lengths / rarity.average_length)
    often = words.mine_counts * (1 + _K3) / (words.mine_counts + _K3)
    saturated = words.counts * (_K1 + 1) / (words.counts + spread[words.rows])
    length = np.log1p(lengths)
    rarest, rarest_five = words.rarest(1, 5)
    return {
        "bm25": in_words.per_row(words.rows, words.rarity * often[words.places] * saturated),
        "titles": _part(in_title.per_row(title.rows, title.rarity**2), norms),
        "title_in_title": title.of_question,
        "title_of_candidate": title.of_candidate,
        "title_in_words": title_in_words.of_question,
        "words_in_title": words_in_title.of_candidate,
        "words_shared": _part(words.shared, words.mass + in_words.masses - words.shared),
        "words_of_question": words.of_question,
        "words_of_candidate": words.of_candidate,
        "rarest": rarest,
        "rarest_five": rarest_five,
        "codes": np.log1p(codes.shared),
        "codes_of_question": codes.of_question,
        "codes_of_candidate": codes.of_candidate,
        "rarest_code": codes.rarest(1)[0],
        "messages": np.log1p(messages.shared),
        "messages_of_question": messages.of_question,
        "length": length,
        "shorter": np.log1p(known["words"].counts.sum()) - length,
    }


def _by_titles(question: Question, pool: Pool) -> dict[str, Floats]:
    mine = _plain(question.title)
    theirs = [_plain(issue.title) for issue in pool.issues]
    ratios = process.cdist([mine], theirs, scorer=fuzz.ratio)[0] if theirs and mine else np.zeros(len(theirs))
    topic = _topic(question.title)
    topics = [_topic(issue.title) for issue in pool.issues] if topic else [""] * len(pool.issues)
    same = [0.0 if not other else 1.0 if topic == other else -1.0 for other in topics]
    author = [float(bool(question.author) and known_author(issue.author) == question.author) for issue in pool.issues]
    days = _days(question, pool)
    return {
        "ratio": np.asarray(ratios, dtype=np.float64) / 100,
        "same_topic": np.array(same),
        "same_author": np.array(author),
        "same_author_lately": np.array(author) * (days < LATELY),
    }


def _days(question: Question, pool: Pool) -> Floats:
    return np.array([abs(question.created_at - issue.created_at) / _DAY for issue in pool.issues])


def _by_times(question: Question, pool: Pool) -> dict[str, Floats]:
    days = _days(question, pool)
    opened = np.array([issue.state == "open" for issue in pool.issues], dtype=np.float64)
    closed = np.array([issue.created_at if one is None else one for issue in pool.issues for one in [issue.closed_at]])
    created = np.array([issue.created_at for issue in pool.issues])
    since = np.log1p(np.maximum(question.created_at - closed, 0) / _DAY)
    lived = np.log1p(np.maximum(closed - created, 0) / _DAY)
    return {
        "days": np.log1p(days),
        "within_a_day": (days < 1).astype(np.float64),
        "within_a_week": (days < 7).astype(np.float64),
        "open": opened,
        "closed_days": since * (1 - opened),
        "lived_days": lived * (1 - opened),
    }


def _by_vectors(question: Question, pool: Pool, bm25: Floats) -> dict[str, Floats]:
    count = len(pool.issues)
    if pool.vectors is None or question.vectors is None or not count:
        names = ("vector_title", "vector_text", "vector_both", "hub", "feedback", "twin")
        return dict.fromkeys(names, np.zeros(count))
    cosines = np.einsum("nkd,kd->kn", pool.vectors, question.vectors).astype(np.float64)
    both = pool.vectors[:, Kind.BOTH]
    between = products(both, both).astype(np.float64)
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


def _part(part: Floats, whole: Floats | float) -> Floats:
    return np.asarray(part / np.where(np.asarray(whole) > 0, whole, 1.0), dtype=np.float64)


@lru_cache(maxsize=1 << 14)
def _plain(title: str) -> str:
    """The words of a title, sorted, so that their order does not count when its letters are compared."""
    return " ".join(sorted(split_words(title.lower())))


def _topic(title: str) -> str:
    topic, colon, _ = title.partition(":")
    return topic.strip().lower() if colon else ""
