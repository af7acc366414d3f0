"""Says what a question and a candidate share, as written: the reasons why the candidate was picked (C3)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property

import numpy as np

from bot.domain.report import Reason, ReasonCode
from bot.search.index import Bags, Terms
from bot.search.matching.retrieval import Pool, Question
from bot.search.matching.shared_terms import Rarity
from bot.search.ranking.reasons import (
    TELLING,
    Written,
    is_copy,
    says_nothing,
    shared_message,
    shared_reasons,
    shared_words,
)
from bot.text.messages import runs
from bot.text.surfaces import surfaces_apart
from bot.text.terms import is_unspaced, raw_words, terms_of


class Explainer:
    """Explains candidates of one question, whose `title` and `body` are given."""

    def __init__(self, question: Question, title: str, body: str, rarity: Rarity) -> None:
        self._text = title, body
        self._known = question.known
        self._labels = question.labels
        self._rarities = rarity("words", question.known["words"].terms)

    @cached_property
    def _mine(self) -> Written:
        return Written(*self._text)

    @property
    def vague(self) -> bool:
        """Whether the question says nothing but its form's boilerplate."""
        words = self._known["words"].words
        # The title is quick to read, and mostly says something.
        return says_nothing(Written(self._text[0], ""), words) and says_nothing(self._mine, words)

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
        theirs = Written(title, body)
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
