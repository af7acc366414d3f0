"""C4: a comma, a colon or the like right behind `/duplicates`, as people write it who address somebody by name."""

from __future__ import annotations

import pytest

from bot.conversation.commands.parser import parse
from bot.conversation.commands.table import MisspeltCommand
from bot.domain.entities import RepoRef

REPO = RepoRef("acme", "app")


@pytest.mark.parametrize(
    ("body", "word", "suggestion"),
    [
        ("/duplicates, help", "/duplicates,", "/duplicates help"),
        ("/Duplicates: Help.", "/Duplicates:", "/duplicates help"),
        ("/duplicates: not #12", "/duplicates:", "/duplicates not #12"),
        ("/duplicates; open limit=3", "/duplicates;", "/duplicates"),
        ("/duplicates, search crash login", "/duplicates,", "/duplicates search WORDS…"),
        ("/duplicates： ｎｏｔ　＃１２", "/duplicates：", "/duplicates not #12"),
        ("/duplicates、 help", "/duplicates、", "/duplicates help"),
        ("/duplicates!", "/duplicates!", "/duplicates"),
        ("/duplicates.", "/duplicates.", "/duplicates"),
    ],
)
def test_c4_what_would_be_a_command_without_the_mark_is_answered(body: str, word: str, suggestion: str) -> None:
    assert parse(body, REPO) == (MisspeltCommand(body, word, suggestion),)


@pytest.mark.parametrize(
    "body",
    [
        "/duplicates: #12, #13",
        "/duplicates: see #12",
        "/duplicates:\n- #12",
        "/duplicates, not least this one",
        "/duplicates: not this one",
        "/duplicates, help is what it is for",
        "/duplicates. Thanks!",
        "/duplicates...",
        "/duplicate, help",
        "/du: help",
        "Its commands are /help,\n/duplicates,\n/close",
    ],
)
def test_c4_what_may_be_a_sentence_or_a_list_is_left_alone(body: str) -> None:
    assert parse(body, REPO) == ()
