"""What is embedded of an issue."""

from __future__ import annotations

import pytest

from bot.index import TextAnalyser
from bot.index.analysis import Analysis


def read(title: str, body: str) -> Analysis:
    analyser = TextAnalyser()
    return analyser.read(title, body, analyser.lines_of(body), ())


@pytest.mark.parametrize(
    "spaces", [("\n", "\r\n"), ("\n", "\n\n"), ("\n", " "), (" ", "  "), (" ", "\t"), (" ", "\u00a0"), ("\n", "\n    ")]
)
def test_which_spaces_part_the_words_makes_no_difference(spaces: tuple[str, str]) -> None:
    """It does to a model's tokens: wordllama knows a word behind a tab, or at the beginning of a line, as another."""
    title, body = "The valve sticks", "It does not close any more.\nThe gauge shows nothing."
    plain, spaced = read(title, body), read(title.replace(*spaces), body.replace(*spaces))
    assert (spaced.title, spaced.text) == (plain.title, plain.text)
    assert plain.text.split() == f"{title} {body}".lower().split()


def test_capitals_make_no_difference() -> None:
    """They do to a model's tokens, and a title in capitals is about the same."""
    title, body = "The valve sticks", "It does not close any more."
    plain, loud = read(title, body), read(title.upper(), body.upper())
    assert (loud.title, loud.text) == (plain.title, plain.text)
