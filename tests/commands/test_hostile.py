"""C4: whatever strangers write in a comment, the parser answers quickly and never raises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.conversation.commands.parser import parse
from bot.conversation.commands.visible_lines import BRACKETS_MAX, LINES_MAX, predates_edit
from bot.domain.entities import BODY_MAX, RepoRef
from tests.effort import costs_at_most

pytestmark = pytest.mark.slow

REPO = RepoRef("acme", "app")

FRAMES = st.sampled_from(["```\n{}\n```", "> {}", "    {}", "<!--\n{}\n-->"])


@given(st.text(st.characters(exclude_characters="\r\n")), FRAMES)
def test_c4_nothing_in_code_quotes_or_html_comments_is_a_command(text: str, frame: str) -> None:
    line = "/duplicates " + text.replace("-->", "").replace("```", "")
    assert parse(frame.format(line), REPO) == ()


OURS = ["/dup", "/duplicates\n", "/duplicates ", "/dupe\n", 'x\n/duplicates search "', "/duplicates search a=\n"]
BRACKETS = ["[a](b", "![a", "[<a b='c", "[a]: b '\n", "- [a]: <b\n", "[a][b\n"]
LONG = ["".join("`" * length + " " for length in range(300)), "".join(" " * depth + "- a\n" for depth in range(300))]


@pytest.mark.parametrize("piece", [*OURS, *LONG])
def test_c4_no_comment_takes_long(piece: str) -> None:
    """A comment of the largest size costs below a second; half of that leaves room for a busy machine."""
    takes_no_second((piece * (BODY_MAX // len(piece) + 1))[: BODY_MAX - 30])


@pytest.mark.parametrize("piece", BRACKETS)
def test_c4_no_comment_with_as_many_brackets_as_are_looked_at_takes_long(piece: str) -> None:
    pieces = min(LINES_MAX - 9, BRACKETS_MAX // piece.count("["))
    end = "" if piece.endswith("\n") else "\n"
    each = piece.replace("a", "a" * max(1, (BODY_MAX - 30) // pieces - len(piece)), 1)
    takes_no_second((each * pieces)[: BODY_MAX - 30] + end)


def takes_no_second(filler: str) -> None:
    for body in (f"{filler}\n\n/duplicates\n", f"/duplicates\n\n{filler}"):
        with costs_at_most(8):
            parse(body, REPO)


@pytest.mark.parametrize("piece", ["/duplicates ", "/duplicates<!-- --> ", "/duplicates<!--", "a "])
def test_c4_no_edit_of_a_comment_takes_long(piece: str) -> None:
    """As above: a line as long as half the comment is compared with what stood at each of thousands of places."""
    line = f"/duplicates search {piece * (BODY_MAX // 2 // len(piece))}"
    for before in (piece * (BODY_MAX // len(piece)), "/duplicates search a " * (BODY_MAX // 21)):
        with costs_at_most(8):
            predates_edit(line, before, line)


def test_c4_a_long_command_that_an_edit_leaves_as_it_was_is_known() -> None:
    for words in ("word " * 300, "w" * 1_000):
        line = f"/duplicates search {words}"
        assert predates_edit(line, f"Look:\n`{line}`", f"Look:\n{line}")
        assert not predates_edit(line, "Look:", f"Look:\n{line}")
    # However long the address, another command beside it is told from it.
    line = f"/duplicates of https://github.com/acme/app/issues/1?{'w' * 1_000}"
    assert predates_edit(line, f"`{line}`", f"{line}\n/duplicates of #2")
