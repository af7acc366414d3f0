"""C3: strangers' text is shown as it is and does nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.conversation.render.escape import ZERO_WIDTH_SPACE, break_phrase, clean, code, code_block, disarm, escape
from tests.fuzz.parsers import STRANGE
from tests.render.reading import INVISIBLE, MARKDOWN, PHRASE, read

HOSTILE = st.lists(st.sampled_from(STRANGE), max_size=14).map("".join) | st.text(max_size=60)

# Where texts stand in comments, and a line of its own.
PLACES = ["{}", "x {} y", "1. [#1](u) {}\n   - fact", "- {}\n- {}", "| a |\n|---|\n| {} |", "**{}**", "para\n{}\npara"]


@given(HOSTILE, st.sampled_from(PLACES))
def test_c3_escaped_text_is_seen_as_it_is_and_does_nothing(text: str, place: str) -> None:
    page = read(place.replace("{}", escape(text)))
    harmless = read(place.replace("{}", "word" if escape(text) else ""))
    assert disarm(clean(text)) in page.text
    assert (page.links, page.images, page.codes) == (harmless.links, 0, [])
    assert set(page.html) <= {"<span>", "</span>"}
    # Neither a heading nor a list nor a quote nor emphasis has come up.
    assert page.blocks == harmless.blocks
    assert page.active == {}
    assert not PHRASE.search(page.text)
    assert not INVISIBLE.search(page.text)


@given(HOSTILE)
def test_c3_what_is_seen_is_the_title_but_for_what_is_invisible(text: str) -> None:
    assert disarm(clean(text)).replace(ZERO_WIDTH_SPACE, "") == clean(text)
    assert clean(clean(text)) == clean(text)
    assert "\n" not in escape(text)


@pytest.mark.slow
@given(HOSTILE)
def test_c3_code_shows_its_text_and_does_nothing(text: str) -> None:
    page = read(f"- a {code(text)} b\n- {code(text)}")
    (one, other) = page.codes
    assert one == other
    assert one.replace(ZERO_WIDTH_SPACE, "") == (clean(text, 300) or "–")
    assert not PHRASE.search(one)
    assert "<!--" not in one
    assert (page.links, page.html, page.active) == ([], [], {})


@given(st.text(st.sampled_from("`~ \tax"), max_size=30).map(lambda line: f"of a title\n   {line}\nand the next"))
def test_x5_a_block_of_code_ends_with_its_text(text: str) -> None:
    (block,) = MARKDOWN.parse(f"Above\n\n{code_block(text)}\n\nBelow")[3:-3]
    assert (block.type, block.content) == ("fence", f"{text}\n")


@given(st.text(st.sampled_from("@#:/ wGHgh-.0a1dDuplicateOfof\n\u200d"), max_size=40))
def test_c3_breaking_twice_changes_nothing_more(text: str) -> None:
    assert break_phrase(break_phrase(text)) == break_phrase(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fix: crash on login!", "Fix: crash on login!"),
        ("snake_case and __dunder__", r"snake_case and \_\_dunder\_\_"),
        ("a < b && c > d", "a &lt; b && c &gt; d"),
        ("AT&T &amp; &#x41;", "AT&amp;T &amp;amp; &amp;#x41;"),
        ("*a* [b](c) `d` ~e~ |f| \\g", r"\*a\* \[b\](c) \`d\` \~e\~ \|f\| \\g"),
        ("1. one", r"1\. one"),
        ("- one", r"\- one"),
        ("# one", r"\# one"),
        ("C# 1.2", "C# 1.2"),
        ("costs $5", "costs $5"),
        ("$a$", "<span>$</span>a<span>$</span>"),
        ("two\nlines\r\n\there", "two lines here"),
        ("‮evil‬ \u200ftext\u200e", "evil text"),
        ("می‌خواهم", "می‌خواهم"),
        ("👩‍💻", "👩‍💻"),
        ("at 10:23:45 AM", "at 10:23:45 AM"),
        ("\ud800", "\ufffd"),
        ("Z\u0301\u0301\u0301\u0301\u0301", "Z\u0301\u0301\u0301"),
        ("Z\u0301\u200b\u0301\u00ad\u0301\u202e\u0301\ufeff\u0301a\u0301", "Z\u0301\u0301\u0301a\u0301"),
        ("Z\u0301\u0301\u200d\u0301\u0301\u200d\u0301", "Z\u0301\u0301\u0301"),
        ("", ""),
    ],
)
def test_c3_escape(text: str, expected: str) -> None:
    assert escape(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@ann", "@~ann"),
        ("see #12 and GH-12", "see #~12 and GH-~12"),
        ("a/b#12", "a/b#~12"),
        ("https://github.com/a/b/issues/1", "https:~//github.com/a/b/issues/1"),
        ("www.a.b", "www~.a.b"),
        # GitHub makes links of these behind an underscore, too.
        ("_www.a.b _GH-12", "_www~.a.b _GH-~12"),
        ("deadbeefcafe1", "deadbe~efcafe~1"),
        ("Duplicate of #1", "Duplicate~ of #~1"),
        ("DUPLICATE\u00a0OF x", "DUPLICATE~\u00a0OF x"),
        (":tada: :+1: a:b 10:23:45", ":~tada: :~+1: a:b 10:23:45"),
        ("C# and F# 1", "C# and F# 1"),
        ("duplicates often", "duplicates often"),
    ],
)
def test_c3_disarm(text: str, expected: str) -> None:
    assert disarm(text) == expected.replace("~", ZERO_WIDTH_SPACE)


def test_c3_a_long_title_is_cut() -> None:
    assert clean("x" * 5_000) == "x" * 199 + "…"
    assert clean("word " * 1_000, 12) == "word word w…"
    assert len(clean("\n" * 1_000_000 + "x")) == 0
    assert re.fullmatch(r"(\\\*){199}…", escape("*" * 5_000))
