"""Names from code, paths, versions, error codes, and the words of error messages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text.error_messages import MOST_CODES, codes, error_messages, message_terms, runs
from bot.text.words import split_words


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
        ("at 0x7ffe12ab34cd, 0xc20803a2a0, 0x7ffe12ab and d0a4deef", set()),
        ("HRESULT: 0x80070005.", {"0x80070005"}),
        ("exit code -1073741819 (0xC0000005), 3221225477", {"0xc0000005"}),
        ("2147483647, -2147483648 and 1700000000 are not", set()),
        ("点击getUserName按钮", {"getusername"}),
        ("在src/upload.py第10行崩溃", {"src/upload.py", "upload.py"}),
        ("1.8.3以降で", {"1.8.3"}),
        ("", set()),
    ],
)
def test_codes(text: str, found: set[str]) -> None:
    assert set(codes(text)) == found


@given(st.text(max_size=2_000))
def test_what_is_kept_of_any_text_is_bounded(text: str) -> None:
    assert len(codes(text)) <= MOST_CODES
    assert all(count > 0 for count in message_terms(text).values())


# Another script sends the same text the other way, where expressions cut what else a table cuts.
_code_pieces = st.sampled_from(
    ["Get", "user", "_x", "1.8.3", "0xff", "v2", "$", "@", "a" * 99, "\x1c", "'", *"./\\:+- \n"]
)


@given(st.lists(_code_pieces).map("".join) | st.text(st.characters(max_codepoint=127)))
def test_codes_are_the_same_beside_another_script(text: str) -> None:
    assert list(codes(f"{text} é").items()) == list(codes(text).items())


@pytest.mark.parametrize(
    "sign", ["ERROR", "Error", "eRRor", "TypeError", "Not Found", "out of range", "can't", "ſegfault"]
)
def test_what_tells_of_an_error_does_so_in_any_case_of_letters(sign: str) -> None:
    assert error_messages(f"all is well\nhere {sign}, it said\nthat was all") == {
        " ".join(split_words(f"here {sign} it said".lower())): f"here {sign}, it said"
    }
    assert error_messages("terrors and notfounds of the night, timeouts") == {}


def test_a_message_is_the_same_behind_a_script_without_spaces() -> None:
    assert message_terms("出现error: cannot open the file").keys() > {"error cannot open", "open the file"}


def test_messages_that_begin_alike_share_runs_of_words() -> None:
    one, other = message_terms("panic: index out of range"), message_terms("panic: index out of bounds")
    assert "panic index out" in one.keys() & other.keys()
    assert runs("index out of range") == ["index out of", "out of range"]


@pytest.mark.parametrize(
    ("line", "quoted"),
    [
        ("The sync ends with `LS-2014 could not store chunk 7 (code 5)` in the log.", "could not store chunk"),
        ("`upload failed with EIO` is all that it says", "upload failed with"),
    ],
)
def test_a_message_that_a_sentence_quotes_is_the_message(line: str, quoted: str) -> None:
    (comparable,) = error_messages(line)
    assert quoted in comparable
    assert "log" not in comparable and "says" not in comparable


def test_a_name_quoted_in_a_message_is_what_differs() -> None:
    one, two = (error_messages(f"error: cannot open the file `{name}` for writing") for name in ("a.txt", "b.txt"))
    assert list(one) == list(two)


@pytest.mark.parametrize("line", ["can't open file '{}' for reading", "Couldn't load '{}': it isn't there, isn't ours"])
def test_an_apostrophe_in_a_message_begins_no_name(line: str) -> None:
    one, other = (error_messages(line.format(name)) for name in ("map.json", "tank.json"))
    assert list(one) == list(other) == [" ".join(split_words(line.format("").lower()))]


@pytest.mark.parametrize(
    "line", ["error: ‘{}’ is undeclared here", "error: “{}” is undeclared here", "error: '{}' is undeclared here"]
)
def test_a_name_in_curly_quotes_is_what_differs_too(line: str) -> None:
    """As compilers write them, and editors that correct what is typed."""
    assert list(error_messages(line.format("level"))) == ["error is undeclared here"]


def test_an_apostrophe_is_one_however_it_is_written() -> None:
    assert list(error_messages("it can’t open the map")) == list(error_messages("it can't open the map")) != []
