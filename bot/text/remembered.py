"""What was found out about words lately."""

from __future__ import annotations

from collections.abc import Callable

LONGEST = 200
"""Longer words are not kept: whoever writes issues could have any number of them remembered."""
MOST_PARTS = 16
"""Nor is what has more parts, such as the pairs of signs of a whole sentence, which seldom comes again: sixty thousand
of the longest took a gigabyte."""


class Remembered(dict[str, tuple[str, ...]]):
    """A function of a word whose results are kept: of the last `most` different words at least, of twice as many at
    most, but for those that take much memory.

    Texts are mostly made of words that came before, and a dictionary answers in half the time of `lru_cache`, which
    puts every answer in order. Safe to share between threads.
    """

    def __init__(self, function: Callable[[str], tuple[str, ...]], most: int = 1 << 15) -> None:
        super().__init__()
        self._function, self._most = function, most
        self._before: dict[str, tuple[str, ...]] = {}

    def __missing__(self, word: str) -> tuple[str, ...]:
        found = self._before.get(word)
        if found is None:
            found = self._function(word)
        if len(word) > LONGEST or len(found) > MOST_PARTS:
            return found
        if len(self) >= self._most:
            self._before = dict(self)
            self.clear()
        self[word] = found
        return found
