"""What the index is told about a repository: whether its texts may be embedded, and what its forms supply."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa

from bot.search.index import Index, IndexedIssue, TextAnalyser
from bot.storage.engine import make_engine
from tests.index.conftest import HashingModel

FORM = ("### Steps to reproduce", "- [x] I have searched the wiki", "-->", "<!-- Describe what you saw -->")


class Told:
    """The texts of repository 1 must stay here, and 2 has a form."""

    def may_embed(self, repo_id: int) -> bool:
        return repo_id != 1

    def form_lines(self, repo_id: int) -> Collection[str]:
        return FORM if repo_id == 2 else ()


def test_c6a_texts_that_must_not_be_embedded_are_not_given_to_the_model(engine: sa.Engine, model: HashingModel) -> None:
    index = Index(engine, TextAnalyser(), model, Told())
    flicker = IndexedIssue(1, "the window flickers", "on resize")
    index.put(1, [flicker])
    assert index.embed(1, index.analyse(1, "window", "")) is None
    assert (index.missing_vectors(1), index.embed_missing(1), index.vector_count(1)) == ([], [], None)
    assert model.texts == 0
    index.put(2, [flicker])
    assert (index.vector_count(2), model.texts) == (1, 2)


def test_a_comment_ends_though_its_last_line_is_the_forms(engine: sa.Engine) -> None:
    """Nearly all templates have the line `-->`, and people write over what stands above it."""
    index = Index(engine, TextAnalyser(), None, Told())
    body = "<!-- I searched, and found\nonly closed ones\n-->\nThe kaleidoscope turns backwards"
    for repo_id in (2, 3):
        assert index.analyse(repo_id, "", body).terms["words"].keys() == {"kaleidoscop", "turn", "backward"}


def test_a_comment_of_the_forms_does_not_end_what_begins_within_a_line(engine: sa.Engine) -> None:
    index = Index(engine, TextAnalyser(), None, Told())
    body = "Typing `<!--` crashes it\n\nThe kaleidoscope freezes\n<!-- Describe what you saw -->\nIt leaks"
    assert {"type", "crash", "kaleidoscop", "freez", "leak"} <= index.analyse(2, "", body).terms["words"].keys()


class Asking:
    """Asks the database, as the store does, which has a single connection here."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def may_embed(self, repo_id: int) -> bool:
        with self._engine.connect() as connection:
            return connection.execute(sa.text("SELECT 1")).scalar() == 1

    def form_lines(self, repo_id: int) -> Collection[str]:
        return ("of the form",) if self.may_embed(repo_id) else ()


def test_what_is_told_is_asked_for_while_no_connection_is_held(store_url: str, model: HashingModel) -> None:
    """Else as many threads as there are connections wait for one another: none gets the second that it needs."""
    engine = make_engine(store_url, patience=0.2, pool_size=1)
    index = Index(engine, TextAnalyser(), model, Asking(engine))
    index.put(1, [IndexedIssue(1, "the window flickers", "of the form\non resize")], embed=False)
    assert index.embed_missing(1) == [1]
    assert index.embed(1, index.analyse(1, "window", "of the form")) is not None
    engine.dispose()
