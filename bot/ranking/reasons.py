"""Why a candidate was picked, in words (C3): shared error text, shared identifiers, shared words.

The sentences quote issues as they are, hostile text included: whoever shows them escapes them (`bot/render/`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bot.ranking.messages import error_messages
from bot.ranking.rarity import Rarity
from bot.ranking.text import is_unspaced, raw_words, terms_of, without_noise

MOST_NAMED = 5
# Below this rarity a shared word says nothing: every tenth issue or so has it.
_TELLING = 0.25
_LONGEST_QUOTE = 120


class Reasoner:
    """One target, ready to be compared with several candidates."""

    def __init__(self, title: str, body: str, rarity: Rarity) -> None:
        self._rarity = rarity
        self._messages = error_messages(body)
        words = _words(f"{title}\n{without_noise(body)}")
        self._words = {term: word for term, word in words.items() if rarity(term) >= _TELLING}
        self._in_title = _words(title).keys()

    def reasons(self, title: str, body: str) -> tuple[str, ...]:
        """Short sentences, strongest first, possibly none. The quotes are the target's own spelling."""
        theirs = error_messages(body) if self._messages else {}
        message = next((line for form, line in self._messages.items() if form in theirs), "")
        in_title = _words(title).keys()
        others = in_title | _words(without_noise(body)).keys()
        shared = {term: word for term, word in self._words.items() if term in others}
        identifiers = {term for term, word in shared.items() if is_identifier(word)}
        in_both_titles = (in_title & self._in_title) - identifiers

        def rarest(among: Collection[str]) -> list[str]:
            terms = sorted((term for term in shared if term in among), key=lambda term: -self._rarity(term))
            return [shared[term] for term in terms]

        rest = shared.keys() - identifiers - in_both_titles
        return sentences(message, rarest(identifiers), rarest(in_both_titles), rarest(rest))


def sentences(
    message: str, identifiers: Sequence[str], title_words: Sequence[str], words: Sequence[str]
) -> tuple[str, ...]:
    """What two issues share, in words, strongest first: a quoted error message, names from code, words of both titles
    and other words, each list with the rarest first. Empty ones say nothing.
    """
    said = [f"Same error text: “{_shortened(message)}”"] if message else []
    for sentence, named in (
        ("Same identifiers: {}", identifiers),
        ("Same words in both titles: {}", title_words),
        ("Same words: {}", words),
    ):
        if named:
            said.append(sentence.format(", ".join(_shortened(word) for word in named[:MOST_NAMED])))
    return tuple(said)


def is_identifier(word: str) -> bool:
    """Whether a word looks like a name from code: an underscore, inner capitals, or letters with digits."""
    inner = word[1:]
    mixed = inner != inner.lower() and word != word.upper()
    return len(word) > 2 and not word.isdigit() and ("_" in word or mixed or any(map(str.isdigit, word)))


def _words(text: str) -> dict[str, str]:
    """Term → the word as it was first written."""
    found: dict[str, str] = {}
    for raw in raw_words(text):
        own = terms_of(raw)
        for term, word in zip(own, own, strict=True) if is_unspaced(raw) else ((term, raw) for term in own[:1]):
            found.setdefault(term, word)
    return found


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else f"{text[: _LONGEST_QUOTE - 1]}…"
