"""F8: what to ask GitHub's search for one issue, within a small budget of requests.

GitHub ANDs words, so the title as a query finds next to nothing. It also takes OR and parentheses between words, and
answers the best hundred matches first: `(a OR b OR c OR d OR e OR f)` over rare words is a ranked retrieval, and six
alternatives are what five operators allow. The plan is F4's literal query, then such alternatives: the title's words
among titles, the rarest words of title and body anywhere, the title's words anywhere. How each was chosen is in
docs/finder.md. A server that refuses OR is asked for pairs of rare words instead.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot.model import RepoRef
from bot.ranking.keywords import MAX_LENGTH, extract_search_keywords, join_within
from bot.ranking.query import (
    MAX_OPERATORS,
    Scope,
    StateFilter,
    any_of,
    build_query,
    literal_query,
    neutralise,
    neutralise_term,
    qualifiers,
)
from bot.ranking.rarity import Rarity
from bot.ranking.text import TITLE_READ, is_unspaced, raw_words, terms_of, without_noise

DEFAULT_BUDGET = 4
ALTERNATIVES = MAX_OPERATORS + 1
# Below GitHub's 256, counted at the strictest reading: with operators and parentheses.
_LONGEST_TEXT = 240
_LONGEST_WORD = 50
# Statistics of so many issues know nearly every word that can be found at all.
_TELLING_TOTAL = 1_000
_COMMON = 0.2


@dataclass(frozen=True, slots=True)
class Plan:
    """Queries in the order in which they are asked, and the narrow ones that replace those a server refuses."""

    queries: tuple[str, ...]
    fallback: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Word:
    """A word that could be searched for: as written, its term, and how much it promises."""

    text: str
    term: str
    weight: float


def plan_queries(
    repo: RepoRef,
    title: str,
    body: str,
    rarity: Rarity,
    *,
    budget: int = DEFAULT_BUDGET,
    state: StateFilter = "all",
    words_max: int = 5,
    template_headings: Iterable[str] = (),
) -> Plan:
    """The plan for an issue: at most `budget` queries, F4's literal one first, none twice; empty without usable words.

    `rarity` must know the terms of the issue (`text.read`).
    """
    keywords = extract_search_keywords(title, body, template_headings, max_words=words_max)
    by_title, by_all = rank_words(title, body, rarity)

    def ask(words: Sequence[Word], scope: Scope) -> str:
        return build_query(repo, _any_that_fit(words), scope, state) if words else ""

    queries = [
        literal_query(repo, keywords, state) if neutralise(keywords) else "",
        ask(by_title[:ALTERNATIVES], "title"),
        ask(by_all[:ALTERNATIVES], "title,body"),
        ask(by_title[:ALTERNATIVES], "title,body"),
        ask(by_all[ALTERNATIVES : 2 * ALTERNATIVES], "title,body"),
        ask(by_title[ALTERNATIVES : 2 * ALTERNATIVES], "title,body"),
        ask(by_all[2 * ALTERNATIVES : 3 * ALTERNATIVES], "title,body"),
    ]
    pairs = itertools.combinations(by_title[:ALTERNATIVES] or by_all[:ALTERNATIVES], 2)
    rarest = sorted(pairs, key=lambda pair: -(pair[0].weight + pair[1].weight))
    fallback = (build_query(repo, f"{one.text} {other.text}", "title,body", state) for one, other in rarest)
    distinct = tuple(query for query in dict.fromkeys(queries) if query)
    return Plan(distinct[:budget], tuple(itertools.islice(fallback, budget)))


def plan_own_words(repo: RepoRef, words: str, *, budget: int = DEFAULT_BUDGET, state: StateFilter = "all") -> Plan:
    """The plan for search words that a person gave: all of them together first, then any of them."""
    given = neutralise(words).split()
    if not given:
        return Plan(())
    telling = [word for word in dict.fromkeys(given) if terms_of(word)] or given
    anything = _any_that_fit([Word(word, word, 1.0) for word in telling[:ALTERNATIVES]])
    queries = [
        build_query(repo, join_within(given, _LONGEST_TEXT), "title,body", state),
        build_query(repo, anything, "title", state),
        build_query(repo, anything, "title,body", state),
    ]
    return Plan(tuple(dict.fromkeys(queries))[:budget])


def natural_query(repo: RepoRef, title: str, state: StateFilter = "all") -> str:
    """The title in its own words, for GitHub's search by meaning, which takes neither quotes nor OR; "" without any."""
    text = join_within(neutralise(title[:TITLE_READ]).split(), MAX_LENGTH)
    return f"{qualifiers(repo, state)} {text}" if text else ""


def rank_words(title: str, body: str, rarity: Rarity) -> tuple[list[Word], list[Word]]:
    """The words of the title by rarity, and those of title and body by rarity and how often they occur, best first.

    Where the statistics know the repository well, words that no other issue has come last, and body words that every
    fifth issue has are left out.
    """
    in_title, title_forms = _count(_searchable(title[:TITLE_READ], 2))
    in_body, body_forms = _count(_searchable(without_noise(body), 3))
    forms = body_forms | title_forms
    often = Counter(in_body)
    for term, count in in_title.items():
        often[term] += 2 * count
    telling = rarity.total >= _TELLING_TOTAL

    def ranked(terms: Iterable[str], weight: Callable[[str], float]) -> list[Word]:
        words = [Word(forms[term], term, weight(term)) for term in terms]
        return sorted(words, key=lambda word: (telling and _is_alone(word.term), -word.weight))

    def _is_alone(term: str) -> bool:
        return rarity.count(term) <= (0 if term in in_title else 1)

    common = _COMMON * rarity.total if telling else math.inf
    worthy = [term for term in often if term in in_title or rarity.count(term) < common]
    return ranked(in_title, rarity), ranked(worthy, lambda term: rarity(term) * math.sqrt(often[term]))


def _searchable(text: str, shortest: int) -> Iterator[tuple[str, str]]:
    """(word as written, its term) of everything worth a place in a query. Ideographs are taken in pairs."""
    for raw in raw_words(text):
        own = terms_of(raw)
        if is_unspaced(raw):
            yield from zip(own, own, strict=True)
        elif own and shortest <= len(raw) <= _LONGEST_WORD and not raw.isdigit():
            yield raw, own[0]


def _count(words: Iterable[tuple[str, str]]) -> tuple[Counter[str], dict[str, str]]:
    """How often each term occurs, and the harmless form in which it was first written."""
    counts: Counter[str] = Counter()
    forms: dict[str, str] = {}
    for written, term in words:
        counts[term] += 1
        forms.setdefault(term, neutralise_term(written))
    return counts, forms


def _any_that_fit(words: Sequence[Word]) -> str:
    """Alternatives of the words, as many as keep the query short enough."""
    fitting: list[str] = []
    for word in words:
        if len(any_of([*fitting, word.text])) <= _LONGEST_TEXT:
            fitting.append(word.text)
    return any_of(fitting)
