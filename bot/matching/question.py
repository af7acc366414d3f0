"""What is asked: one issue, or words in its place, read as the issues of its repository are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.index import Analysis, Terms, View
from bot.index.vectors.vectors import Vectors
from bot.model import NOBODY, Actor, Issue

# Machine users, which an import of another tracker's issues may have written, are named so by custom; an App by rule.
_MACHINE = ("bot", "[bot]")


@dataclass(frozen=True, slots=True)
class Question:
    """`known` are the text's terms by field, `vectors` those of its title, its text and both, (3, dimensions), or None.

    `created_at` is in seconds since 1970; `author` is empty where it is no person that is known; `reported` is how many
    earlier issues the author has written.
    """

    number: int
    title: str
    author: str
    reported: int
    created_at: float
    known: Mapping[str, Terms]
    vectors: Vectors | None


def pose(view: View, target: Issue, title: str, analysis: Analysis, pair: Vectors | None) -> Question:
    """The question, with its terms looked up in the repository. `title` is the target's own, or the words instead."""
    author = known_author(target.author)
    return Question(
        number=target.number,
        title=title,
        author=author,
        reported=view.reported(author, target.number) if author else 0,
        created_at=target.created_at.timestamp(),
        known=view.look_up(analysis),
        vectors=None if pair is None or not view.vector_count else view.centred(pair),
    )


def known_author(author: Actor) -> str:
    """The login of a person, or nothing where it stands for nobody in particular or for a machine."""
    machine = author.is_bot or author.login.lower().endswith(_MACHINE)
    return "" if machine or author.login == NOBODY else author.login
