"""Why a candidate was picked, in words."""

from __future__ import annotations

import pytest

from bot.domain.report import Reason, ReasonCode
from bot.search.matching.explanation import (
    LEAST_RARITY,
    ComparedText,
    is_copy,
    is_identifier,
    shared_message,
    shared_reasons,
    shared_words,
)
from bot.search.ranking.relevance import WordRarity
from bot.text.error_messages import error_messages, searchable_phrase

RARITY = WordRarity(1_000, {"crash": 700, "app": 900})


def reasons(title: str, body: str, other_title: str, other_body: str) -> tuple[str, ...]:
    if is_copy((title, body), (other_title, other_body)):
        return (str(Reason(ReasonCode.COPY)),)
    mine, theirs = ComparedText(title, body), ComparedText(other_title, other_body)
    telling = sorted((term for term in mine.all if RARITY(term) >= LEAST_RARITY), key=lambda term: -RARITY(term))
    found = shared_reasons(shared_message(mine, theirs, mine.messages), *shared_words(mine, theirs, telling))
    return tuple(map(str, found))


def test_error_messages_are_comparable_across_line_numbers_paths_and_quotes() -> None:
    one = error_messages(
        'intro\n> panic: index out of range [5] with length 3\nE  File "/home/a/x.py" not found here\n'
    )
    two = error_messages("    panic: index out of range [17] with length 4\nE File '/srv/y.py' not found here")
    assert set(one) == set(two) == {"panic index out of range with length", "e file not found here"}
    assert next(iter(one.values())) == "panic: index out of range [5] with length 3"


def test_error_messages_are_comparable_across_paths_of_windows() -> None:
    one, other = (error_messages(rf"error: {path} not found here") for path in (r"C:\Users\ann\map.json", r"D:\x.json"))
    assert set(one) == set(other) == {"error not found here"}


def test_lines_that_say_too_little_are_no_messages() -> None:
    assert error_messages("error: exit\nall is well here\n" + "error " * 100) == {}


def test_a_message_is_cut_to_what_others_would_have_too() -> None:
    assert searchable_phrase("panic: index out of range [5] with length 3") == "index out of range"
    assert searchable_phrase("error 5") == ""


def test_c3_reasons_name_error_text_identifiers_and_words() -> None:
    found = reasons(
        "Crash in parseConfig with proxy",
        "panic: index out of range [5]\ncalls load_file",
        "parseConfig and the proxy fail",
        "panic: index out of range [7]\nafter load_file",
    )
    assert found == (
        "Same error text: “panic: index out of range”",
        "Same identifiers: parseConfig, load_file",
        "Same words in both titles: proxy",
    )


def test_c3_a_copy_needs_no_other_reason() -> None:
    text = "panic: index out of range [5]\ncalls load_file"
    assert reasons("Crash in parseConfig", text, "Crash in  parseConfig", f"{text} \r\n") == (
        "Same title and text, word for word",
    )
    for title, body in (("Crash in parseConfig", text.upper()), ("A crash in parseConfig", text)):
        assert "word for word" not in "".join(reasons("Crash in parseConfig", text, title, body))
    assert "word for word" not in "".join(reasons("Crash in parseConfig", "", "Crash in parseConfig", " \n"))


def test_c3_offsets_and_dates_are_no_reason_and_error_codes_come_last() -> None:
    one = "Sat Sep 3 10:00 UTC\nrender_page(0x57, 0x3036)\nHRESULT 0x80070005\nwidget"
    two = "Sat Sep 9 11:00 UTC\nrender_page(0x57, 0x3036)\nHRESULT 0x80070005\nwidget, again"
    assert reasons("a", one, "b", two) == ("Same identifiers: render_page, 0x80070005", "Same words: HRESULT, widget")


def test_c3_a_comment_in_code_is_no_error_text() -> None:
    code = "    // check if the value is of the type resources.Error\npanic: the value was wrong by far"
    assert reasons("a", code, "b", f"{code}\nand again")[0] == "Same error text: “panic: the value was wrong by far”"


def test_c3_common_words_are_no_reason() -> None:
    assert reasons("app crash", "", "the app crashes", "") == ()


def test_reasons_quote_raw_text_and_leave_escaping_to_the_renderer() -> None:
    found = reasons(
        "x", "fatal error: @org/team <!-- c --> `code` failed", "y", "fatal error: @org/team `other` failed"
    )
    assert found[0] == "Same error text: “fatal error: @org/team … failed”"


def quoted(mine: str, theirs: str) -> str:
    first = next(iter(reasons("x", mine, "y", theirs)), "")
    return first.partition("“")[2].removesuffix("”") if first.startswith("Same error text") else ""


@pytest.mark.parametrize(
    ("mine", "theirs", "expected"),
    [
        (
            "(browser) Failed to fetch tile 9/271/161: 403",
            "Failed to fetch tile 12/2171/1322: 403",
            "Failed to fetch tile … 403",
        ),
        ("connection refused user=4 on retry", "connection refused user=2 on retry", "connection refused … on retry"),
        (
            "`database is locked, timeout (code 5)`",
            "database is locked, timeout (code 5)",
            "database is locked, timeout (code 5)",
        ),
        ("Error: Disk is full", "ERROR: disk is full", "Error: Disk is full"),
        ("error: 12 quota 4 of 5 disks", "error: 3 quota 14 of 15 disks", "error: … quota … of … disks"),
        ("cannot open file one", "cannot read the stream", ""),
    ],
)
def test_c3_only_what_both_have_is_quoted(mine: str, theirs: str, expected: str) -> None:
    assert quoted(mine, theirs) == expected


def test_c3_words_are_shown_as_both_have_written_them() -> None:
    found = reasons("Videos rotate, uploads too", "imported", "Rotated videos and Uploads", "import of imports")
    assert found == ("Same words in both titles: Videos, uploads",)


def test_c3_numbers_and_empty_words_are_no_reason() -> None:
    text = "Could one go 90 of 17 since 2014"
    assert reasons(text, "", text, "") == ()


def test_c3_words_of_the_quoted_error_are_not_named_again() -> None:
    crash = "panic: proxy refused the connection"
    assert reasons("Kiosk", f"{crash}\nin the lobby", "Screen", f"lobby:\n{crash}") == (
        f"Same error text: “{crash}”",
        "Same words: lobby",
    )


@pytest.mark.parametrize(
    ("word", "expected"),
    [("parseConfig", True), ("load_file", True), ("E0308", True), ("HTTP", False), ("Crash", False), ("1234", False)],
)
def test_identifiers(word: str, expected: bool) -> None:
    assert is_identifier(word) is expected


@pytest.mark.parametrize(
    ("mine", "theirs", "said"),
    [
        ("Nach dem Update startet das Programm nicht", "Es stürzt nach dem Update, wenn das so bleibt", "Update"),
        ("更新之后的窗口", "我的窗口不见了", "窗口"),
        ("これでフォントがおかしい", "それでフォントが", "フォ, ォン, ント"),
        ("После обновления окно пустое", "Окно не для меня после отпуска", "окно"),
    ],
)
def test_c3_words_that_join_others_in_any_language_are_no_reason(mine: str, theirs: str, said: str) -> None:
    (sentence,) = reasons("x", mine, "y", theirs)
    assert set(sentence.partition(": ")[2].split(", ")) == set(said.split(", "))


@pytest.mark.parametrize("word", ["die", "war", "DES", "EST", "per", "ES", "OS", "MIT", "sans", "immer", "del", "van"])
def test_words_that_mean_something_in_english_or_computing_stay_reasons(word: str) -> None:
    assert reasons("x", f"{word} window", "y", f"{word} gone") == (f"Same words: {word}",)
