"""Names from code, paths, versions, error codes, and the words of error messages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.ranking.codes import MOST_CODES, codes, message_terms, runs


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("call getUserName twice", {"getusername"}),
        ("in user_name_of", {"user_name_of"}),
        ("LS-2014: out of space", {"ls-2014"}),
        ("error E1042.", {"e1042"}),
        ("since v1.8.3, not in 1.8.2-rc1", {"1.8.3", "1.8.2-rc1"}),
        ("os.File.Read hangs", {"os.file.read", "read"}),
        ("at src/upload/store.py:114", {"src/upload/store.py", "store.py"}),
        ("raised TileNotFoundError", {"tilenotfounderror"}),
        ("a plain sentence of words, and 42 or 12:30:45", set()),
        ("at 0x7ffe12ab34cd", set()),
        ("", set()),
    ],
)
def test_codes(text: str, found: set[str]) -> None:
    assert set(codes(text)) == found


@given(st.text(max_size=2_000))
def test_what_is_kept_of_any_text_is_bounded(text: str) -> None:
    assert len(codes(text)) <= MOST_CODES
    assert all(count > 0 for count in message_terms(text).values())


def test_messages_that_differ_in_numbers_and_paths_are_equal() -> None:
    one = message_terms("fatal error: could not open '/a/b' in line 7")
    other = message_terms("fatal error: could not open '/c' in line 99")
    assert one == other != {}


def test_messages_that_begin_alike_share_runs_of_words() -> None:
    one, other = message_terms("panic: index out of range"), message_terms("panic: index out of bounds")
    assert "panic index out" in one.keys() & other.keys()
    assert runs("index out of range") == ["index out of", "out of range"]
