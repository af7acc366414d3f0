"""The index comes to a database that is in use already."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import command

from bot.index import Index, IndexedIssue, TextAnalyser
from bot.model import RepoRef, Repository
from bot.store import Store
from bot.store.database.engine import make_engine, write
from bot.store.database.migrate import _config, is_current, migrate
from tests.store.posting import note_posted


def test_what_was_stored_before_the_index_is_kept(database_url: str) -> None:
    engine = make_engine(database_url)
    config = _config()
    with write(engine) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    store = Store(engine)
    store.repositories.upsert(Repository(7, RepoRef("acme", "app"), private=False), 1, 9.0)
    note_posted(store, 7, 3, comment_id=11, shown=[1, 2], now=9.0)
    kept = store.comments.get(7, 3)
    assert not sa.inspect(engine).has_table("indexed_issues")
    assert not is_current(engine)

    migrate(engine)

    assert store.comments.get(7, 3) == kept is not None
    assert store.repositories.get(7) is not None
    index = Index(engine, TextAnalyser())
    index.put(7, [IndexedIssue(3, "crash")])
    store.forget_issue(7, 3)
    assert index.count(7) == 1, "the index takes its issues out itself"
    store.forget(7)
    assert index.count(7) == 0
    engine.dispose()
