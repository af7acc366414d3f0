"""What is remembered of words is what would be found out anew, and does not grow without bound."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.text.remembered import LONGEST, Remembered


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
