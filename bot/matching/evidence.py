"""What two issues share, as written, for the sentences that say why a candidate was picked (C3)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bot.index import Bags, Terms
from bot.matching.retrieval import Pool, Question
from bot.matching.shared_terms import Rarity
from bot.ranking.reasons import (
    TELLING,
    Written,
    is_copy,
    says_nothing,
    shared_message,
    shared_reasons,
    shared_words,
)
from bot.report import Reason, Shared
from bot.text.messages import runs
from bot.text.surfaces import surfaces_apart
from bot.text.terms import is_unspaced, raw_words, terms_of


@dataclass(frozen=True, slots=True)
class Evidence:
    """The rarest first, in the spelling of the issue that is asked about; a word is named in one place only.

    `message` is what both quote of an error message, empty if there is none; `identifiers` are names from code,
    `title_words` in both titles, `words` anywhere else. All of it is a stranger's text. A `copy` has title and text of
    the issue, and nothing is named. `apart` are a label of the issue and one of the other that place them on different
    surfaces.
    """

    message: str = ""
    identifiers: tuple[str, ...] = ()
    title_words: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    copy: bool = False
    apart: tuple[str, str] | None = None

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The same in words (C3)."""
        differs = (Reason(Shared.SURFACE, self.apart),) if self.apart else ()
        if self.copy:
            return (Reason(Shared.COPY), *differs)
        return (*shared_reasons(self.message, self.identifiers, self.title_words, self.words), *differs)


class Witness:
    """One question, ready to be compared with several candidates. `title` and `body` are what was asked."""

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
        """Whether the question says nothing, once what forms supply is left out."""
        words = self._known["words"].words
        # The title mostly does, and is read in a moment.
        return says_nothing(Written(self._text[0], ""), words) and says_nothing(self._mine, words)

    def of(self, pool: Pool, row: int, title: str, body: str) -> Evidence:
        """What is shared with the candidate in a row of the pool, whose text is given."""
        apart = surfaces_apart(self._labels, pool.issues[row].labels)
        if is_copy(self._text, (title, body)):
            return Evidence(copy=True, apart=apart)
        messages = self._known["messages"]
        # The index knows what forms supply, and leaves it out.
        quoted = {messages.words[place] for place in _places(messages, pool.messages, row)}
        forms = [form for form in self._mine.messages if _mostly(form, quoted)]
        telling = self._telling(_places(self._known["words"], pool.words, row))
        theirs = Written(title, body)
        identifiers, title_words, words = map(tuple, shared_words(self._mine, theirs, telling))
        return Evidence(shared_message(self._mine, theirs, forms), identifiers, title_words, words, apart=apart)

    def _telling(self, places: Sequence[int]) -> list[str]:
        """The question's telling words at these places, rarest first."""
        telling = [place for place in places if self._rarities[place] >= TELLING]
        return [self._known["words"].words[place] for place in sorted(telling, key=lambda at: -self._rarities[at])]


def as_written(terms: Iterable[str], text: str) -> list[str]:
    """The words of `text` that terms stand for, in the terms' order, each once: a name from code rather than its parts.

    Stems are for comparing; a person looks for the words that were written. Terms that `text` does not give are left
    out.
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
    """Whether at least half of a message's runs of words are quoted: what stands before it on its line may differ."""
    parts = runs(message)
    return 2 * sum(part in quoted for part in parts) >= len(parts)


def _places(mine: Terms, bags: Bags, row: int) -> list[int]:
    theirs = bags.terms[bags.starts[row] : bags.starts[row + 1]]
    return np.flatnonzero(np.isin(mine.terms, theirs)).tolist()
