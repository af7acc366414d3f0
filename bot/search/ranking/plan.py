"""Plans the queries to GitHub's search for one issue, within a small budget of requests (F8).

A match needs all words of a query, so a whole title finds next to nothing. But for up to six rare
words joined by OR, GitHub returns the best hundred matches, ranked. The plan is:

1. F4's literal query;
2. the title's words, in titles;
3. the title's words, in bodies;
4. a quoted error message and the rarest words of the whole text, in bodies.

Queries 2 and 3 are separate, because a query for titles and bodies would rank titles first. A server that refuses OR
gets pairs of rare words instead. docs/research/accuracy.md tells what each query finds.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot.domain.entities import RepoRef, StateFilter
from bot.search.ranking.query import (
    MAX_LENGTH,
    MAX_OPERATORS,
    Scope,
    any_of,
    build_query,
    extract_search_keywords,
    has_usable_words,
    join_within,
    literal_query,
    neutralise,
    neutralise_term,
    phrase,
    qualifiers,
)
from bot.search.ranking.relevance import WordRarity
from bot.text.error_messages import error_messages, searchable_phrase
from bot.text.terms import TITLE_READ, is_unspaced, raw_words, terms_of, without_noise

DEFAULT_BUDGET = 4
ALTERNATIVES = MAX_OPERATORS + 1
# Characters in a query's text, with operators and parentheses. GitHub's limit is 256.
_LONGEST_TEXT = 240
_LONGEST_WORD = 50
# With fewer issues, word statistics lack many words. So no word counts as too rare or as common.
_RELIABLE_TOTAL = 1_000
# A word is common if at least this share of the issues has it.
_COMMON_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Plan:
    """`fallback` is for servers that refuse OR. An issue's `words` come rarest first, a person's words as typed."""

    queries: tuple[str, ...]
    fallback: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


def plan_queries(
    repo: RepoRef,
    title: str,
    body: str,
    rarity: WordRarity,
    *,
    budget: int = DEFAULT_BUDGET,
    state: StateFilter = "all",
    words_max: int = 5,
    template_headings: Iterable[str] = (),
) -> Plan:
    """The plan for an issue: at most `budget` different queries, F4's literal query first.

    Without usable words, there is no query. `rarity` must know the issue's terms (`terms.read`).
    `words_max` and `template_headings` are for F4's query, as in `extract_search_keywords`.
    """
    keywords = extract_search_keywords(title, body, template_headings, max_words=words_max)
    by_title, by_all = rank_words(title, body, rarity)
    messages = [phrase(searchable_phrase(line)) for line in error_messages(body).values()]
    quoted = [message for message in messages if message][:1]

    def ask(texts: Sequence[str], scope: Scope) -> str:
        return build_query(repo, any_that_fit(texts), scope, state) if texts else ""

    in_bodies = [*quoted, *by_all]
    # For large budgets, the last three queries ask for less rare words.
    queries = [
        literal_query(repo, keywords, state) if neutralise(keywords) else "",
        ask(by_title[:ALTERNATIVES], "title"),
        ask(by_title[:ALTERNATIVES], "body"),
        ask(in_bodies[:ALTERNATIVES], "body"),
        ask(in_bodies[ALTERNATIVES : 2 * ALTERNATIVES], "body"),
        ask(by_title[ALTERNATIVES : 2 * ALTERNATIVES], "title,body"),
        ask(in_bodies[2 * ALTERNATIVES : 3 * ALTERNATIVES], "body"),
    ]
    # The rarest pairs first: 1+2, 1+3, 2+3, 1+4, …
    words = tuple((by_title or by_all)[:ALTERNATIVES])
    pairs = sorted(itertools.combinations(range(len(words)), 2), key=lambda pair: (sum(pair), pair[1]))
    fallback = (build_query(repo, f"{words[one]} {words[other]}", "title,body", state) for one, other in pairs)
    distinct = tuple(query for query in dict.fromkeys(queries) if query)
    return Plan(distinct[:budget], tuple(itertools.islice(fallback, budget)), words)


def plan_own_words(repo: RepoRef, words: str, *, budget: int = DEFAULT_BUDGET, state: StateFilter = "all") -> Plan:
    """The plan for a person's search words: first a query for all words together, then queries for any of them."""
    all_words = neutralise(words).split()
    if not all_words:
        return Plan(())
    meaningful = [word for word in dict.fromkeys(all_words) if terms_of(word)] or all_words
    anything = any_that_fit(meaningful[:ALTERNATIVES])
    queries = [
        build_query(repo, join_within(all_words, _LONGEST_TEXT), "title,body", state),
        build_query(repo, anything, "title", state),
        build_query(repo, anything, "title,body", state),
    ]
    return Plan(tuple(dict.fromkeys(queries))[:budget], words=tuple(meaningful[:ALTERNATIVES]))


def natural_query(repo: RepoRef, title: str, state: StateFilter = "all") -> str:
    """A title or a person's words as a query for GitHub's semantic search, which allows ten requests a minute.

    The query has no quotes and no OR. It is "" if the title has only stop words.
    """
    if not has_usable_words(title[:TITLE_READ]):
        return ""
    return f"{qualifiers(repo, state)} {join_within(neutralise(title[:TITLE_READ]).split(), MAX_LENGTH)}"


def rank_words(title: str, body: str, rarity: WordRarity) -> tuple[list[str], list[str]]:
    """The title's words by rarity, and all words by rarity and count, best first.

    With enough issues in `rarity`, common body words are left out, and too rare words come last. A
    title word is too rare if no issue has it, a body word if at most one issue has it.
    """
    in_title, title_forms = _count(_searchable(title[:TITLE_READ], 2))
    in_body, body_forms = _count(_searchable(without_noise(body), 3))
    forms = body_forms | title_forms
    often = Counter(in_body)
    for term, count in in_title.items():
        often[term] += 2 * count
    reliable = rarity.total >= _RELIABLE_TOTAL

    def ranked(among: Iterable[str], weight: Callable[[str], float]) -> list[str]:
        return [forms[one] for one in sorted(among, key=lambda one: (too_rare(one), -weight(one)))]

    def too_rare(term: str) -> bool:
        return reliable and rarity.count(term) <= (0 if term in in_title else 1)

    common = _COMMON_SHARE * rarity.total if reliable else math.inf
    worthy = [term for term in often if term in in_title or rarity.count(term) < common]
    return ranked(in_title, rarity), ranked(worthy, lambda term: rarity(term) * math.sqrt(often[term]))


def _searchable(text: str, shortest: int) -> Iterator[tuple[str, str]]:
    """Yield each word of at least `shortest` characters, and its first term. Unspaced text gives character pairs."""
    for raw in raw_words(text):
        own = terms_of(raw)
        if is_unspaced(raw):
            yield from zip(own, own, strict=True)
        elif own and shortest <= len(raw) <= _LONGEST_WORD and not raw.isdigit():
            yield raw, own[0]


def _count(words: Iterable[tuple[str, str]]) -> tuple[Counter[str], dict[str, str]]:
    """How often each term occurs, and each term's first spelling, neutralised."""
    counts: Counter[str] = Counter()
    forms: dict[str, str] = {}
    for written, term in words:
        counts[term] += 1
        forms.setdefault(term, neutralise_term(written))
    return counts, forms


def any_that_fit(texts: Sequence[str]) -> str:
    """The words and phrases as alternatives, as many as fit into a query."""
    fitting: list[str] = []
    for text in texts:
        if len(any_of([*fitting, text])) <= _LONGEST_TEXT:
            fitting.append(text)
    return any_of(fitting)
