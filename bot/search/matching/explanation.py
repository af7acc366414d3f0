"""Finds what two issues share, as written (C3): error text, identifiers, words. These are a candidate's reasons."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from bot.domain.report import Reason, ReasonCode
from bot.search.index import Bags, Terms
from bot.search.matching.features import TermRarity
from bot.search.matching.retrieval import IssueQuery, Pool
from bot.text.messages import error_messages, in_common, runs
from bot.text.surfaces import surfaces_apart
from bot.text.terms import is_unspaced, raw_words, status_code, terms_of, without_noise
from bot.text.words import is_function_word

MOST_NAMED = 5
#: A shared word with less rarity says nothing: every twelfth of a thousand issues has it.
TELLING = 0.33
_LONGEST_QUOTE = 120

# Words that say nothing by themselves, however rare they are in a repository. Fillers are not even terms.
_COMMON = """
able actually add added already always another anything around back become behavior behaviour better broken bug case
change come could currently different everything expected fact feature find fine first get getting give go goes going
gone good got happen happened happening happens help instead issue keep know last let like look looks made make makes
many may maybe might must need needs never new next nothing now off often old once one ones option others please
possible problem put really right said say says second see seem seems set several should show shows since someone
something sometimes still sure take tell thing things think time title tried trouble try trying two use used user uses
using want wants way well went whole will without work working works would wrong yet
"""
_EMPTY = frozenset(_COMMON.split())
# Words in printed dates.
_DATES = """
mon tue tues wed weds thu thur thurs fri sat sun monday tuesday wednesday thursday friday saturday sunday jan feb mar
apr jun jul aug sep sept oct nov dec january february march april june july august september october november december
am pm utc gmt
"""
_NO_REASON = frozenset(_DATES.split())
_HEX = re.compile(r"0x[0-9a-f]*", re.IGNORECASE)
# A comment in quoted code may mention an error, but is none.
_COMMENTS = ("//", "/*", "*/", "<!--")

Spellings = Mapping[str, Mapping[str, str]]
"""Term → its spellings in case-folded form → the first occurrence of each, as written."""


class ComparedText:
    """One issue's text, prepared for comparison with others."""

    def __init__(self, title: str, body: str) -> None:
        text = f"{title}\n{without_noise(body)}"
        self.title = spellings(title)
        self.all = spellings(text)
        self.messages = error_messages(text)


def is_copy(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether two issues have the same title and text but for spaces; issues without text are no copies."""
    return bool(one[1].strip()) and all(mine.split() == theirs.split() for mine, theirs in zip(one, other, strict=True))


def shared_message(mine: ComparedText, theirs: ComparedText, forms: Iterable[str]) -> str:
    """The common part of an error message that both quote: of the first of these `forms` of mine; "" if there is none.

    At least half of the message's runs of words must be theirs too; what precedes it on its line may differ.
    """
    for form in forms:
        if mine.messages[form].lstrip().startswith(_COMMENTS):
            continue
        parts = runs(form)
        common = {other: len(set(parts).intersection(runs(other))) for other in theirs.messages}
        nearest = max(common, key=common.__getitem__, default="")
        if nearest and 2 * common[nearest] >= len(set(parts)):
            said = in_common(mine.messages[form], theirs.messages[nearest])
            if said:
                return said
    return ""


def shared_words(
    mine: ComparedText, theirs: ComparedText, terms: Iterable[str]
) -> tuple[list[str], list[str], list[str]]:
    """The names from code, words of both titles, and other words that both have, in the order of `terms`.

    Only words that both spell the same way, but for case, are named. Status codes come after names. Other hexadecimal
    numbers are addresses and offsets, and are left out.
    """
    identifiers: list[str] = []
    status: list[str] = []
    in_titles: list[str] = []
    others: list[str] = []
    for term in terms:
        in_title = _alike(mine.title, theirs.title, term)
        word = in_title or _alike(mine.all, theirs.all, term)
        if status_code(word):
            status.append(word)
        elif _HEX.fullmatch(word):
            continue
        elif is_identifier(word):
            identifiers.append(word)
        elif says_something(word) and not is_function_word(word) and word.casefold() not in _NO_REASON:
            (in_titles if in_title else others).append(word)
    return identifiers + status, in_titles, others


def shared_reasons(
    message: str, identifiers: Sequence[str], title_words: Sequence[str], words: Sequence[str]
) -> tuple[Reason, ...]:
    """The reasons, strongest first, without empty ones; other words do not repeat the message's."""
    quoted = {word.casefold() for word in raw_words(message)}
    found = {
        ReasonCode.MESSAGE: [message] if message else [],
        ReasonCode.IDENTIFIERS: identifiers,
        ReasonCode.TITLES: title_words,
        ReasonCode.WORDS: [word for word in words if word.casefold() not in quoted],
    }
    return tuple(Reason(shared, tuple(map(_shortened, named[:MOST_NAMED]))) for shared, named in found.items() if named)


def is_identifier(word: str) -> bool:
    """Whether a word looks like a name from code, with an underscore, inner capitals, or letters and digits."""
    inner = word[1:]
    mixed = inner != inner.lower() and word != word.upper()
    return len(word) > 2 and not word.isdigit() and ("_" in word or mixed or any(map(str.isdigit, word)))


def spellings(text: str) -> Spellings:
    """The words of a text by their terms; the parts of a name from code do not count."""
    found: dict[str, dict[str, str]] = {}
    for raw in raw_words(text):
        own = terms_of(raw)
        for term, word in zip(own, own, strict=True) if is_unspaced(raw) else ((term, raw) for term in own[:1]):
            found.setdefault(term, {}).setdefault(word.casefold(), word)
    return found


def is_vague(text: ComparedText, terms: Iterable[str]) -> bool:
    """Whether no term of a text says what it is about, as in "Something is wrong" and "see title"."""
    words = (word for term in terms for word in text.all.get(term, {}).values())
    return not any(map(says_something, words))


def _alike(mine: Spellings, theirs: Spellings, term: str) -> str:
    """My first spelling of a term that is also theirs, or ""."""
    others: Collection[str] = theirs.get(term, ())
    return next((word for folded, word in mine.get(term, {}).items() if folded in others), "")


def says_something(word: str) -> bool:
    """Whether a word is no bare number, no single letter, and no word that fits any issue."""
    return not word.isdigit() and (len(word) > 1 or not word.isascii()) and word.casefold() not in _EMPTY


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else f"{text[: _LONGEST_QUOTE - 1]}…"


class Explainer:
    """Explains candidates of one question, whose `title` and `body` are given."""

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
        """Whether the question says nothing but its form's boilerplate."""
        words = self._known["words"].words
        # The title is quick to read, and mostly says something.
        return is_vague(ComparedText(self._text[0], ""), words) and is_vague(self._mine, words)

    def reasons(self, pool: Pool, row: int, title: str, body: str) -> tuple[Reason, ...]:
        """What is shared with the candidate in a row of the pool, whose title and body are given; rarest words first.

        Words are spelled as in the question. They are a stranger's text. A copy names nothing. Labels of different
        surfaces come last.
        """
        apart = surfaces_apart(self._labels, pool.issues[row].labels)
        differs = (Reason(ReasonCode.SURFACE, apart),) if apart else ()
        if is_copy(self._text, (title, body)):
            return (Reason(ReasonCode.COPY), *differs)
        messages, words = self._known["messages"], self._known["words"]
        # The index has left out boilerplate, so a message that it does not know is no evidence.
        quoted = {messages.words[place] for place in _places(messages, pool.messages, row)}
        forms = [form for form in self._mine.messages if _mostly(form, quoted)]
        telling = [place for place in _places(words, pool.words, row) if self._rarities[place] >= TELLING]
        rarest = [words.words[place] for place in sorted(telling, key=lambda at: -self._rarities[at])]
        theirs = ComparedText(title, body)
        message, shared = shared_message(self._mine, theirs, forms), shared_words(self._mine, theirs, rarest)
        return (*shared_reasons(message, *shared), *differs)


def as_written(terms: Iterable[str], text: str) -> list[str]:
    """The words of `text` that the terms stand for, in the terms' order, each once; other terms are left out.

    Stems are for comparing, but people look for the words that were written. A name from code stands for its parts.
    """
    whole: dict[str, str] = {}
    parts: dict[str, str] = {}
    spaced = text.isascii()
    for raw in dict.fromkeys(raw_words(text)):
        own = terms_of(raw)
        if not spaced and is_unspaced(raw):
            whole.update((pair, pair) for pair in own if pair not in whole)
        elif own:
            whole.setdefault(own[0], raw)
        for term in own[1:]:
            parts.setdefault(term, raw)
    return list(dict.fromkeys(spelling for term in terms if (spelling := whole.get(term) or parts.get(term))))


def _mostly(message: str, quoted: Collection[str]) -> bool:
    """Whether at least half of a message's runs of words are quoted; what precedes it on its line may differ."""
    parts = runs(message)
    return 2 * sum(part in quoted for part in parts) >= len(parts)


def _places(mine: Terms, bags: Bags, row: int) -> list[int]:
    theirs = bags.terms[bags.starts[row] : bags.starts[row + 1]]
    return np.flatnonzero(np.isin(mine.terms, theirs)).tolist()
