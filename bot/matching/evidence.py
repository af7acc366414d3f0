"""What two issues share, as written, for the sentences that say why a candidate was picked (C3)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bot.index import Bags, Terms
from bot.matching.features import Pool, Rarity
from bot.matching.question import Question
from bot.ranking.codes import runs
from bot.ranking.messages import error_messages
from bot.ranking.reasons import is_identifier
from bot.ranking.text import raw_words, terms_of

#: Of each kind so many are named.
MOST_NAMED = 5
# Below this rarity a shared word says nothing: every tenth issue or so has it.
_TELLING = 0.25


@dataclass(frozen=True, slots=True)
class Evidence:
    """The rarest first, in the spelling of the issue that is asked about; a word is named in one place only.

    `message` is an error message that both quote, empty if there is none; `identifiers` are names from code,
    `title_words` in both titles, `words` anywhere else. All of it is a stranger's text.
    """

    message: str = ""
    identifiers: tuple[str, ...] = ()
    title_words: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


class Witness:
    """One question, ready to be compared with several candidates. `title` and `body` are what was asked."""

    def __init__(self, question: Question, title: str, body: str, rarity: Rarity) -> None:
        self._text = f"{title}\n{body}"
        self._known = question.known
        self._rarities = {name: rarity(name, question.known[name].terms) for name in ("words", "title")}

    @cached_property
    def _messages(self) -> Mapping[str, str]:
        return error_messages(self._text)

    @cached_property
    def _spelled(self) -> Mapping[str, str]:
        return _spelled(self._text)

    def of(self, pool: Pool, row: int) -> Evidence:
        """What is shared with the candidate in a row of the pool."""
        messages = self._known["messages"]
        quoted = {messages.words[place] for place in _places(messages, pool.messages, row)}
        message = next((line for form, line in self._messages.items() if _mostly(form, quoted)), "")
        in_titles = set(self._named("title", _places(self._known["title"], pool.title, row)))
        words = self._named("words", _places(self._known["words"], pool.words, row))
        identifiers = [word for word in words if is_identifier(word)]
        plain = [word for word in words if not is_identifier(word)]
        return Evidence(
            message,
            tuple(identifiers[:MOST_NAMED]),
            tuple([word for word in plain if word in in_titles][:MOST_NAMED]),
            tuple([word for word in plain if word not in in_titles][:MOST_NAMED]),
        )

    def _named(self, field: str, places: Sequence[int]) -> list[str]:
        """The spelling of the question's telling terms at these places, rarest first."""
        rarities, words = self._rarities[field], self._known[field].words
        telling = sorted((place for place in places if rarities[place] >= _TELLING), key=lambda at: -rarities[at])
        return list(dict.fromkeys(self._spelled[words[at]] for at in telling if words[at] in self._spelled))


def as_written(terms: Iterable[str], text: str) -> list[str]:
    """The words of `text` that terms stand for, in the terms' order, each once: a name from code rather than its parts.

    Stems are for comparing; a person looks for the words that were written. Terms that `text` does not give are left
    out.
    """
    whole = _spelled(text)
    parts: dict[str, str] = {}
    for raw in raw_words(text):
        for term in terms_of(raw)[1:]:
            parts.setdefault(term, raw)
    return list(dict.fromkeys(spelling for term in terms if (spelling := whole.get(term) or parts.get(term))))


def _mostly(message: str, quoted: Collection[str]) -> bool:
    """Whether at least half of a message's runs of words are quoted: what stands before it on its line may differ."""
    parts = runs(message)
    return 2 * sum(part in quoted for part in parts) >= len(parts)


def _places(mine: Terms, bags: Bags, row: int) -> list[int]:
    theirs = bags.terms[bags.starts[row] : bags.starts[row + 1]]
    return np.flatnonzero(np.isin(mine.terms, theirs)).tolist()


def _spelled(text: str) -> Mapping[str, str]:
    """Term → the word as it was first written. The parts of a name from code are not words of their own."""
    found: dict[str, str] = {}
    for raw in raw_words(text):
        own = terms_of(raw)
        if own and not raw.isascii() and len(own) > 1:
            for term in own:
                found.setdefault(term, term)
        elif own:
            found.setdefault(own[0], raw)
    return found
