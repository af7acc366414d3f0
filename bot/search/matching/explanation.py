"""Finds the reasons for a candidate (C3): error text, identifiers and words that both issues share, as written.

A question is an issue for which candidates are sought; each has its own `Explainer`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from bot.domain.report import Reason, ReasonCode
from bot.search.index import Bags, Terms
from bot.search.matching.features import TermRarity
from bot.search.matching.retrieval import IssueQuery, Pool
from bot.text.error_messages import error_messages, in_common, runs
from bot.text.surfaces import surfaces_apart
from bot.text.terms import is_unspaced, raw_words, status_code, terms_of, without_noise
from bot.text.words import is_function_word

MOST_NAMED = 5
#: A shared word below this rarity is no reason: such a word is in at least 81 of a thousand issues.
LEAST_RARITY = 0.33
_LONGEST_QUOTE = 120

# Words that say nothing by themselves, however rare they are in a repository.
_COMMON = """
able actually add added already always another anything around back become behavior behaviour better broken bug case
change come could currently different everything expected fact feature find fine first get getting give go goes going
gone good got happen happened happening happens help instead issue keep know last let like look looks made make makes
many may maybe might must need needs never new next nothing now off often old once one ones option others please
possible problem put really right said say says second see seem seems set several should show shows since someone
something sometimes still sure take tell thing things think time title tried trouble try trying two use used user uses
using want wants way well went whole will without work working works would wrong yet
"""
_VAGUE_WORDS = frozenset(_COMMON.split())
# Words in printed dates.
_DATES = """
mon tue tues wed weds thu thur thurs fri sat sun monday tuesday wednesday thursday friday saturday sunday jan feb mar
apr jun jul aug sep sept oct nov dec january february march april june july august september october november december
am pm utc gmt
"""
_DATE_WORDS = frozenset(_DATES.split())
_HEX = re.compile(r"0x[0-9a-f]*", re.IGNORECASE)
# Lines that begin like this are comments in quoted code. They may mention an error, but are no error message.
_COMMENT_MARKS = ("//", "/*", "*/", "<!--")

Spellings = Mapping[str, Mapping[str, str]]
"""Maps each term to its spellings: each case-folded word to the word as first written."""


class ComparedText:
    """One issue's text, prepared for comparison with others."""

    def __init__(self, title: str, body: str) -> None:
        text = f"{title}\n{without_noise(body)}"
        self.title = spellings(title)
        self.all = spellings(text)
        self.messages = error_messages(text)


def is_copy(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether two issues have the same title and text, except for spaces. Issues without text are no copies."""
    return bool(one[1].strip()) and all(mine.split() == theirs.split() for mine, theirs in zip(one, other, strict=True))


def shared_message(mine: ComparedText, theirs: ComparedText, forms: Iterable[str]) -> str:
    """The common part of the first error message that both texts quote, or "".

    `forms` are keys of `mine.messages` (see `error_messages`). Both texts quote a message if at least half of the
    message's runs of three words are in one message of `theirs`.
    """
    for form in forms:
        if mine.messages[form].lstrip().startswith(_COMMENT_MARKS):
            continue
        parts = runs(form)
        common = {other: len(set(parts).intersection(runs(other))) for other in theirs.messages}
        nearest = max(common, key=common.__getitem__, default="")
        if nearest and 2 * common[nearest] >= len(set(parts)):
            shared = in_common(mine.messages[form], theirs.messages[nearest])
            if shared:
                return shared
    return ""


def shared_words(
    mine: ComparedText, theirs: ComparedText, terms: Iterable[str]
) -> tuple[list[str], list[str], list[str]]:
    """The shared names from code, the words that both titles share, and other shared words, in the order of `terms`.

    A word counts only if both texts spell it the same way, except for case. Status codes (0x80070005) come after names.
    Other hexadecimal numbers are left out, because they are addresses and offsets.
    """
    identifiers: list[str] = []
    status: list[str] = []
    in_titles: list[str] = []
    others: list[str] = []
    for term in terms:
        in_title = _same_spelling(mine.title, theirs.title, term)
        word = in_title or _same_spelling(mine.all, theirs.all, term)
        # An empty `word` passes none of these tests.
        if status_code(word):
            status.append(word)
        elif _HEX.fullmatch(word):
            continue
        elif is_identifier(word):
            identifiers.append(word)
        elif says_something(word) and not is_function_word(word) and word.casefold() not in _DATE_WORDS:
            (in_titles if in_title else others).append(word)
    return identifiers + status, in_titles, others


def shared_reasons(
    message: str, identifiers: Sequence[str], title_words: Sequence[str], words: Sequence[str]
) -> tuple[Reason, ...]:
    """The reasons, strongest first. `words` that the `message` contains are left out."""
    quoted = {word.casefold() for word in raw_words(message)}
    found = {
        ReasonCode.MESSAGE: [message] if message else [],
        ReasonCode.IDENTIFIERS: identifiers,
        ReasonCode.TITLES: title_words,
        ReasonCode.WORDS: [word for word in words if word.casefold() not in quoted],
    }
    return tuple(Reason(code, tuple(map(_shortened, named[:MOST_NAMED]))) for code, named in found.items() if named)


def is_identifier(word: str) -> bool:
    """Whether a word of three characters or more looks like code: with `_`, inner capitals, or letters and digits."""
    inner = word[1:]
    mixed = inner != inner.lower() and word != word.upper()
    return len(word) > 2 and not word.isdigit() and ("_" in word or mixed or any(map(str.isdigit, word)))


def spellings(text: str) -> Spellings:
    """Maps terms to words. A name from code is one word. In unspaced scripts, each pair of characters is a word."""
    found: dict[str, dict[str, str]] = {}
    for raw in raw_words(text):
        own = terms_of(raw)
        # The first term stands for the whole name, the other terms stand for its parts.
        spelled = [(term, term) for term in own] if is_unspaced(raw) else [(term, raw) for term in own[:1]]
        for term, word in spelled:
            found.setdefault(term, {}).setdefault(word.casefold(), word)
    return found


def is_vague(text: ComparedText, terms: Iterable[str]) -> bool:
    """Whether no term says what the text is about, as in "Something is wrong" and "see title"."""
    words = (word for term in terms for word in text.all.get(term, {}).values())
    return not any(map(says_something, words))


def _same_spelling(mine: Spellings, theirs: Spellings, term: str) -> str:
    """The first spelling of a term in `mine` that `theirs` has too, as written in `mine`; or ""."""
    others: Collection[str] = theirs.get(term, ())
    return next((word for folded, word in mine.get(term, {}).items() if folded in others), "")


def says_something(word: str) -> bool:
    """Whether a word tells issues apart. Numbers, single ASCII characters and words that fit any issue do not."""
    return not word.isdigit() and (len(word) > 1 or not word.isascii()) and word.casefold() not in _VAGUE_WORDS


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else f"{text[: _LONGEST_QUOTE - 1]}…"


class Explainer:
    """Explains the candidates of one question. `title` and `body` are the question's text."""

    def __init__(self, question: IssueQuery, title: str, body: str, rarity: TermRarity) -> None:
        self._text = title, body
        self._known = question.known
        self._labels = question.labels
        self._rarities = rarity("words", question.known["words"].terms)

    @cached_property
    def _mine(self) -> ComparedText:
        return ComparedText(*self._text)

    @property
    def vague(self) -> bool:
        """Whether no word of the question says what the question is about. Boilerplate does not count."""
        terms = self._known["words"].words
        # Try the title first: it is quick to read, and usually says enough.
        return is_vague(ComparedText(self._text[0], ""), terms) and is_vague(self._mine, terms)

    def reasons(self, pool: Pool, row: int, title: str, body: str) -> tuple[Reason, ...]:
        """The reasons for the candidate in a row of the pool, rarest words first.

        `title` and `body` are the candidate's. Reasons quote the question, so treat their words as hostile. If the
        candidate is a copy, COPY replaces these reasons. Labels of different surfaces (app, platform, …) come last.
        """
        labels = surfaces_apart(self._labels, pool.issues[row].labels)
        differs = (Reason(ReasonCode.SURFACE, labels),) if labels else ()
        if is_copy(self._text, (title, body)):
            return (Reason(ReasonCode.COPY), *differs)
        messages, terms = self._known["messages"], self._known["words"]
        # The terms of the field `messages` are whole messages and runs of three words, without boilerplate.
        shared_terms = {messages.words[at] for at in _shared_positions(messages, pool.messages, row)}
        forms = [form for form in self._mine.messages if _mostly_in(shared_terms, form)]
        rare = [at for at in _shared_positions(terms, pool.words, row) if self._rarities[at] >= LEAST_RARITY]
        rarest = [terms.words[at] for at in sorted(rare, key=lambda at: -self._rarities[at])]
        theirs = ComparedText(title, body)
        message, shared = shared_message(self._mine, theirs, forms), shared_words(self._mine, theirs, rarest)
        return (*shared_reasons(message, *shared), *differs)


def as_written(terms: Iterable[str], text: str) -> list[str]:
    """The words of `text` for these terms, in the terms' order, each word once. Skips terms without a word.

    Terms are stems, but people look for the words that the author wrote. For a term that is only part of a name from
    code, the list has the whole name. In unspaced scripts, a term is a pair of characters, and its own word.
    """
    whole: dict[str, str] = {}
    parts: dict[str, str] = {}
    only_ascii = text.isascii()
    for raw in dict.fromkeys(raw_words(text)):
        own = terms_of(raw)
        if not only_ascii and is_unspaced(raw):
            whole.update((pair, pair) for pair in own if pair not in whole)
        elif own:
            whole.setdefault(own[0], raw)
        for term in own[1:]:
            parts.setdefault(term, raw)
    return list(dict.fromkeys(spelling for term in terms if (spelling := whole.get(term) or parts.get(term))))


def _mostly_in(shared_terms: Collection[str], message: str) -> bool:
    """Whether at least half of a message's runs of three words are in `shared_terms`."""
    parts = runs(message)
    return 2 * sum(part in shared_terms for part in parts) >= len(parts)


def _shared_positions(own: Terms, bags: Bags, row: int) -> list[int]:
    """The positions in `own` of the terms that the candidate in this row also has."""
    others = bags.terms[bags.starts[row] : bags.starts[row + 1]]
    return np.flatnonzero(np.isin(own.terms, others)).tolist()
