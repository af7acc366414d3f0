"""What is remembered of words is what would be found out anew, and does not grow without bound."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from bot.text.remembered import LONGEST, MOST_PARTS, Remembered
from bot.text.terms import terms


@given(st.lists(st.text("abc", max_size=3)), st.integers(1, 5))
def test_the_last_words_are_asked_once_and_old_ones_go(words: list[str], most: int) -> None:
    asked: list[str] = []

    def parts(word: str) -> tuple[str, ...]:
        asked.append(word)
        return tuple(word)

    remembered = Remembered(parts, most)
    for place, word in enumerate(words):
        before = len(asked)
        assert remembered[word] == tuple(word)
        since = words[:place][::-1].index(word) if word in words[:place] else None
        if since is not None and len(set(words[place - since : place])) < most:
            assert len(asked) == before
        assert len(remembered) <= most
        assert len(remembered._before) <= most


def test_words_of_any_length_are_not_kept() -> None:
    """An issue may be one word of 60,000 characters."""
    asked = []
    remembered = Remembered(lambda word: (asked.append(word), (word[:3],))[1], 10)
    for word in ("a" * LONGEST, "a" * (LONGEST + 1)) * 2:
        assert remembered[word] == ("aaa",)
    assert [len(word) for word in asked] == [LONGEST, LONGEST + 1, LONGEST + 1]
    assert list(remembered) == ["a" * LONGEST]


def test_words_of_many_parts_are_not_kept() -> None:
    """Where no space parts words, a sentence is one word, and has as many parts as signs."""
    remembered = Remembered(tuple, 10)
    for length in (MOST_PARTS, MOST_PARTS + 1):
        assert remembered["a" * length] == ("a",) * length
    assert list(remembered) == ["a" * MOST_PARTS]


def test_sentences_in_which_no_space_parts_words_leave_little_in_memory() -> None:
    text = " ".join("".join(chr(0x4E00 + at + place) for place in range(LONGEST)) for at in range(300))
    tracemalloc.start()
    try:
        assert len(terms(text)) == 300 * (LONGEST - 1)
        assert tracemalloc.get_traced_memory()[0] < 1 << 20
    finally:
        tracemalloc.stop()
