"""An issue's text as terms."""

from __future__ import annotations

import tracemalloc
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text.terms import MOST_COUNTED, own_text, raw_words, read, terms, terms_of, without_comments, without_noise
from bot.text.words import split_words


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("crashes", ("crash",)),
        ("the", ()),
        ("getUserName", ("getusername", "get", "user", "name")),
        ("snake_case_name", ("snake_case_name", "snake", "case", "name")),
        ("HTTPServer", ("httpserver", "http", "server")),
        ("E0308", ("e0308", "0308")),
        ("0xdeadbeef12", ()),
        ("0xC0000005", ("0xc0000005",)),
        ("1073741819", ("0xc0000005",)),
        ("1234567", ()),
        ("x" * 65, ()),
        ("日本語", ("日本", "本語")),
        ("日本", ("日本",)),
        ("сбой", ("сбой",)),
        ("ข้อผิดพลาด", ("ข้อ", "อผิ", "ผิด", "ดพ", "พล", "ลา", "าด")),
        ("설정은", ("설정", "정은")),
    ],
)
def test_terms_of_a_written_word(raw: str, expected: tuple[str, ...]) -> None:
    assert terms_of(raw) == expected


def test_where_no_space_parts_words_a_long_run_says_as_much_as_a_short_one() -> None:
    assert terms("設定画面" * 30) == ["設定", "定画", "画面", "面設"] * 29 + ["設定", "定画", "画面"]


@pytest.mark.parametrize(
    "text",
    [
        "앱이 시작할 때 충돌합니다",
        "ファイルが開けないバグ、ポップアップ",
        "Ứng dụng bị treo khi khởi động",
        "Größe über Menü öffnen schlägt fehl",
        "تعطل آخر مؤشر",
        "แอปค้างเมื่อเปิด",
        "फ़ाइल नहीं खुलती",
    ],
)
def test_a_word_is_the_same_however_its_letters_are_written(text: str) -> None:
    """macOS writes the names of files, which people paste, letter by letter with the marks behind."""
    apart = unicodedata.normalize("NFD", text)
    whole = unicodedata.normalize("NFC", text)
    assert (terms(apart), split_words(apart)) == (terms(whole), split_words(whole))
    assert terms(text)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("Ｅｒｒｏｒ：ｔｉｍｅｏｕｔ１２", "Error: timeout12"),
        ("ﾎﾞﾀﾝとﾌｧｲﾙ", "ボタンとファイル"),
        ("İndirme AÇILMIYOR", "indirme açılmıyor"),
        ("Чёрный счётчик", "черный счетчик"),
    ],
)
def test_a_word_is_the_same_in_any_width_and_with_letters_that_stand_for_one_another(text: str, same: str) -> None:
    assert terms(text) == terms(same) != []


def test_a_latin_word_in_a_text_without_spaces_is_a_word() -> None:
    assert terms("点击getUserName按钮") == ["点击", "getusername", "get", "user", "name", "按钮"]
    assert raw_words("Excelを開く café문제") == ["Excel", "を開く", "café", "문제"]


def test_title_words_count_twice() -> None:
    evidence = read("net/http: Server crashes", "The server crashes, again: crash.")
    assert evidence.title == {"net": 1, "http": 1, "server": 1, "crash": 1}
    assert evidence.all["crash"] == 4
    assert evidence.all["server"] == 3


def test_what_a_person_does_not_see_is_no_evidence() -> None:
    body = "before <!-- Thank you for\nreporting --> after &lt;tag&gt; https://example.org/path?x=1 end"
    assert without_noise(body).split() == ["before", "after", "<tag>", "end"]
    assert without_comments("before\n <!-- never closed\n\nafter") == "before\n "
    assert without_comments("a <!-- x --> b <!-- y --> c").split() == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("logged", "said"),
    [
        ("2024-05-06T10:11:12.123Z pump stopped", "pump stopped"),
        ("2024-05-06 10:11:12,123+02:00 pump stopped", "pump stopped"),
        ("[2024/05/06 10:11:12] pump stopped", "[ ] pump stopped"),
        ("10:11:12 pump stopped", "pump stopped"),
        ("pump 0a1b2c3d-1111-4222-8333-4444aaaa6666 stopped", "pump stopped"),
        ("\x1b[1;31mpump\x1b[0m stopped", "pump stopped"),
        ("at 10:11, on 2024-05-06, 10:11:12:13 and 1:2:3", "at 10:11, on 2024-05-06, 10:11:12:13 and 1:2:3"),
    ],
)
def test_what_no_other_report_has_is_no_evidence(logged: str, said: str) -> None:
    assert " ".join(without_noise(logged).split()) == said


@pytest.mark.parametrize("before", ["Typing ", "<!-- Thank you. -->\nTyping ", "> <!-- a --> "])
def test_a_comment_within_a_line_that_is_never_closed_is_text(before: str) -> None:
    """As GitHub shows it; all that stands behind it would be lost else."""
    read = without_comments(f"{before}<!-- into the editor crashes it\n\nand in <!-- other places too")
    assert read.endswith("<!-- into the editor crashes it\n\nand in <!-- other places too")
    hidden = without_comments(f"{before}<!-- into the editor crashes it\n<!-- Describe what\n\nhappened")
    assert hidden.endswith("<!-- into the editor crashes it\n")


def test_a_comment_within_a_line_ends_in_its_paragraph_or_is_text() -> None:
    """The next comment's end is not its own."""
    read = without_comments("Typing <!-- crashes\n\nthe editor <!-- says\nnothing -->\n<!-- Describe\n\nthat -->\nhere")
    assert read.split() == ["Typing", "<!--", "crashes", "the", "editor", "here"]


def test_what_one_issue_adds_to_the_statistics_is_bounded_and_its_title_comes_first() -> None:
    counted = read("needle", " ".join(f"word{n}x" for n in range(2_000))).counted()
    assert len(counted) == MOST_COUNTED
    assert "needl" in counted


@given(st.text(max_size=200))
def test_terms_are_words_without_noise(text: str) -> None:
    for term in terms(text):
        assert 0 < len(term) <= 80
        assert not any(sign.isspace() or sign in "\"':()<>" for sign in term)


def test_long_words_leave_little_in_memory() -> None:
    """Where no space parts words, a sentence is one word, and whoever writes issues could write any number of them."""
    text = " ".join("".join(chr(0x4E00 + at + place) for place in range(200)) for at in range(300))
    tracemalloc.start()
    try:
        assert len(terms(text)) == 300 * 199
        assert tracemalloc.get_traced_memory()[0] < 1 << 20
    finally:
        tracemalloc.stop()


FORM = """\
<!-- Thanks! Please search first. -->
### What happened?

The export  stops
at 40 %.

**Steps**:
![picture](https://github.com/user-attachments/assets/1)

- [x] I have searched
- [ ] It is urgent

---
### Logs

```shell
ERROR export: disk full
```
### Anything else?

_No response_
"""


def test_the_form_is_left_out_and_the_rest_is_one_line() -> None:
    assert own_text(FORM) == "The export stops at 40 %. ERROR export: disk full"


def test_lines_that_are_known_to_be_supplied_are_left_out_however_they_are_written() -> None:
    assert own_text("Version:  LATEST\nIt crashes.", {"version: latest"}) == "It crashes."


@pytest.mark.parametrize(
    "text", ["# apt install doppel", "- a list", "**Bold** at the beginning", "See https://example.org", "-1 from me"]
)
def test_what_only_looks_like_a_form_stays(text: str) -> None:
    assert own_text(text) == text


@pytest.mark.parametrize("sign", ["*", "[", "![", "<img ", "#", "- [", "<!--"])
def test_hostile_text_takes_no_time_worth_telling(sign: str) -> None:
    # Each step is linear in what is read, and that is bounded.
    assert len(own_text(sign * 1_000_000)) <= 6_000
