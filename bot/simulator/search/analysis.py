"""From text to terms: words are normalised, lower-cased and stemmed; there are no stop words.

One analyser serves titles, bodies, comments and queries. It is much like Elasticsearch's standard
tokenizer: punctuation separates words, but an underscore does not. Each Han or kana character is a
token. In a query, a run of such characters becomes a phrase.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

import snowballstemmer

# `re` does not count vowel signs and accents as word characters, so `_MARKS` lists the common ones.
_MARKS = r"\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0900-\u0963\u0981-\u0dff\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ecd"
_IDEOGRAPHS = r"\u3041-\u309f\u30a0-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_TOKEN = re.compile(rf"[{_IDEOGRAPHS}]|(?:(?![{_IDEOGRAPHS}])[\w{_MARKS}])+")
# Turns every ASCII character outside of words into a space. `_TOKEN` splits all other text.
_SPACED = bytes(code if code > 127 or chr(code).isalnum() or chr(code) == "_" else 32 for code in range(256))
# Like `_TOKEN`, but neighbouring ideographs stay together.
_UNITS = re.compile(rf"[{_IDEOGRAPHS}]+|(?:(?![{_IDEOGRAPHS}])[\w{_MARKS}])+")

# No English word exceeds this length. Longer tokens are data, and are not stemmed.
_LONGEST_WORD: Final = 40


def tokens(text: str) -> list[str]:
    """The words of a text in order, lower case, not yet stemmed."""
    # Nearly all text is ASCII. A table of bytes splits ASCII many times faster than a regular expression.
    if text.isascii():
        return _pieces(text.lower())
    words: list[str] = []
    for piece in _pieces(unicodedata.normalize("NFKC", text).lower()):
        if piece.isascii():
            words.append(piece)
        else:
            words.extend(_TOKEN.findall(piece))
    return words


def units(text: str) -> list[list[str]]:
    """The parts of an unquoted query word, as tokens. A match needs all parts, each with its tokens side by side."""
    return [tokens(unit) for unit in _UNITS.findall(unicodedata.normalize("NFKC", text).lower())]


def _pieces(text: str) -> list[str]:
    """The text split at the ASCII characters that separate words. Lone surrogates stay."""
    return text.encode("utf-8", "surrogatepass").translate(_SPACED).decode("utf-8", "surrogatepass").split()


class Vocabulary(dict[str, int]):
    """The term numbers of words, from 1 on. Words with the same stem share a number. Indexing stems a word only once.

    Indexing looks words up with `[]`, which adds new words; searching uses `find`, which does not.
    """

    def __init__(self) -> None:
        super().__init__()
        self._stem = snowballstemmer.stemmer("english").stemWord
        self._terms: dict[str, int] = {}

    def __missing__(self, word: str) -> int:
        number = self._terms.setdefault(self._stemmed(word), len(self._terms) + 1)
        self[word] = number
        return number

    def find(self, word: str) -> int:
        """The word's term number; 0 if no text ever had such a word."""
        return self.get(word) or self._terms.get(self._stemmed(word), 0)

    def _stemmed(self, word: str) -> str:
        if len(word) > _LONGEST_WORD or not (word.isascii() and word.isalpha()):
            return word
        stem: str = self._stem(word)
        return stem
