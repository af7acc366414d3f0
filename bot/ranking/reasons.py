"""Why a candidate was picked, in words (C3): shared error text, shared identifiers, shared words.

The sentences quote issues as they are, hostile text included: whoever shows them escapes them (`bot/render/`).
"""

from __future__ import annotations

from collections.abc import Iterable

from bot.ranking.messages import error_messages
from bot.ranking.rarity import Rarity
from bot.ranking.text import is_unspaced, raw_words, terms_of, without_noise

MOST_NAMED = 5
# Below this rarity a shared word says nothing: every tenth issue or so has it.
_TELLING = 0.25
_LONGEST_QUOTE = 120


def reasons(title: str, body: str, other_title: str, other_body: str, rarity: Rarity) -> tuple[str, ...]:
    """Short sentences, strongest first, possibly none. The quotes are the first issue's own spelling."""
    said = []
    theirs = error_messages(other_body)
    if message := next((line for form, line in error_messages(body).items() if form in theirs), ""):
        said.append(f"Same error text: “{_shortened(message)}”")
    ours, others = _words(f"{title}\n{without_noise(body)}"), _words(f"{other_title}\n{without_noise(other_body)}")
    shared = {term: word for term, word in ours.items() if term in others and rarity(term) >= _TELLING}
    identifiers = {term: word for term, word in shared.items() if is_identifier(word)}
    if identifiers:
        said.append(f"Same identifiers: {_list(identifiers, rarity)}")
    rest = {term: word for term, word in shared.items() if term not in identifiers}
    titles = _words(title).keys() & _words(other_title).keys()
    in_titles = {term: word for term, word in rest.items() if term in titles}
    if in_titles:
        said.append(f"Same words in both titles: {_list(in_titles, rarity)}")
    elsewhere = {term: word for term, word in rest.items() if term not in in_titles}
    if elsewhere:
        said.append(f"Same words: {_list(elsewhere, rarity)}")
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


def _list(words: dict[str, str], rarity: Rarity) -> str:
    rarest: Iterable[str] = sorted(words, key=lambda term: -rarity(term))[:MOST_NAMED]
    return ", ".join(_shortened(words[term]) for term in rarest)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else f"{text[: _LONGEST_QUOTE - 1]}…"
