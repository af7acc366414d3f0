"""The index of all repositories. `Index` adds and removes issues; `Index.view` opens a `View`, which searches."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import sqlalchemy as sa

from bot.domain.formats import batches
from bot.search.embedding import Embedder, EmbeddingError
from bot.search.index import issues as issue_rows
from bot.search.index.analysis import Analysis, FormLines, RepositoryInfo, TextAnalyser
from bot.search.index.arrays import Integers, Postings
from bot.search.index.boilerplate import RepositoryAnalyser
from bot.search.index.cache import IndexCache
from bot.search.index.database import NO_KEYS, IndexState, delete, fetch, load_state, lock_state, save_state, upsert
from bot.search.index.issues import LONGEST_BODY, LONGEST_TITLE, IndexedIssue, storable_text
from bot.search.index.postings import (
    Batch,
    PostingsChange,
    forget_terms,
    list_key,
    number_terms,
    read_lists,
    stored_entries,
    update_postings,
)
from bot.search.index.text_vectors import TextVectors
from bot.search.index.vectors import ModelVectors, Vectors, drop
from bot.search.index.view import View
from bot.storage.engine import make_engine, with_key, write
from bot.storage.schema import indexed_bodies, indexed_issues, indexed_terms, indexed_vectors, metadata, text_vectors
from bot.storage.sqlite import memory_engine

#: One transaction writes at most this many issues. Smaller transactions would write more pages for each issue.
BATCH = 5_000
#: `embed_missing` embeds and writes this many issues at a time if the model is remote.
_REMOTE_BATCH = 32

_ABOVE = (
    sa.select(indexed_issues.c.number)
    .where(with_key(indexed_issues, "repo_id"), indexed_issues.c.number > sa.bindparam("above"))
    .order_by(indexed_issues.c.number)
    .limit(sa.bindparam("limit"))
)


class _LastPut(NamedTuple):
    """The results of a thread's last `put` of a single issue. A search with the same text uses these results again.

    The results are valid while the repository's form lines are `forms` and its sequence number is `sequence`.
    """

    issue: tuple[int, int, tuple[str, str]]  # Repository, number, text.
    forms: Collection[str]
    sequence: int
    analysis: Analysis
    pair: Vectors | None  # The vectors of title and text.


class _LastPuts(threading.local):
    value: _LastPut | None = None


class Index:
    """The issues of many repositories, each indexed separately. Safe to share between threads and processes.

    A repository has no vectors if there is no `embedder`, or if the embedder must not get the repository's texts.
    """

    def __init__(
        self,
        engine: sa.Engine,
        analyser: TextAnalyser,
        embedder: Embedder | None = None,
        about: RepositoryInfo | None = None,
        *,
        text_model: Embedder | None = None,
    ) -> None:
        """The `engine` comes from `make_engine`, for a database that `migrate` has prepared.

        Without `about`, no repository has form lines, and every text may be embedded. The `text_model` compares the
        best candidates. It must run on this machine, because it gets the texts of every repository.
        """
        self._engine = engine
        self.analyser, self.embedder, self.about = analyser, embedder, about or FormLines()
        self.text_model = text_model
        self._fields, self._analyser_version = analyser.fields, analyser.version
        self._posted_fields = {position for position, field in enumerate(self._fields) if field.posted}
        self._caches = IndexCache()
        self._last_put = _LastPuts()
        self._repository_analyser = RepositoryAnalyser(engine, analyser, self.about)
        self._model = ModelVectors(embedder) if embedder else None
        self.text_vectors = TextVectors(engine, self._repository_analyser, text_model) if text_model else None

    def close(self) -> None:
        """Close the connections to the database; later calls open new ones."""
        self._engine.dispose()

    @contextmanager
    def view(self, repo_id: int) -> Iterator[View]:
        """A snapshot of a repository's index, for reading."""
        with self._engine.connect() as connection, self._caches.using(repo_id) as cache:
            if connection.dialect.name == "postgresql":
                connection.execution_options(isolation_level="REPEATABLE READ")
            else:
                # Python's SQLite driver begins a transaction only before a write.
                connection.exec_driver_sql("BEGIN")
            yield View(connection, repo_id, self._fields, cache, load_state(connection, repo_id))

    def count(self, repo_id: int) -> int:
        with self._engine.connect() as connection:
            return load_state(connection, repo_id).issues

    def numbers(self, repo_id: int, above: int, limit: int) -> list[int]:
        """The lowest issue numbers above `above`, ascending, at most `limit`."""
        with self._engine.connect() as connection:
            return list(connection.execute(_ABOVE, {"repo_id": repo_id, "above": above, "limit": limit}).scalars())

    def latest(self, repo_id: int, limit: int) -> list[IndexedIssue]:
        """The issues with the highest numbers, with their bodies, in no particular order."""
        query = sa.select(indexed_issues.c.number).where(indexed_issues.c.repo_id == repo_id)
        with self._engine.connect() as connection:
            numbers = connection.execute(query.order_by(indexed_issues.c.number.desc()).limit(limit)).scalars().all()
            texts = issue_rows.texts(connection, repo_id, numbers)
            issues = issue_rows.read(connection, repo_id, numbers)
        return [issue._replace(body=texts[number][1]) for number, issue in issues.items()]

    def vector_count(self, repo_id: int) -> int | None:
        """How many issues have vectors of the configured model; None if the repository gets no vectors."""
        model = self._allowed_model(repo_id)
        if model is None:
            return None
        with self._engine.connect() as connection:
            state = load_state(connection, repo_id)
        return state.vectors if state.model == model.model else 0

    def text_count(self, repo_id: int) -> int | None:
        """How many issues the text model has read; None without a text model."""
        return None if self.text_vectors is None else self.text_vectors.count(repo_id)

    def analyse(self, repo_id: int, title: str, body: str, number: int = 0) -> Analysis:
        """Analyse a text as `put` does, without the repository's boilerplate. Stores nothing.

        For a stored issue, pass its `number`. Otherwise its stored lines would count as another issue's lines.
        """
        text, last = _storable(title, body), self._last_put.value
        if last and last.issue == (repo_id, number, text) and last.forms == self.about.form_lines(repo_id):
            with self._engine.connect() as connection:
                if load_state(connection, repo_id).sequence == last.sequence:
                    return last.analysis
        return self._repository_analyser.read(repo_id, {number: text})[number]

    def embed(self, repo_id: int, analysis: Analysis) -> Vectors | None:
        """The vectors of title and text, (2, dimensions); None if the repository gets none. Raises EmbeddingError."""
        model = self._allowed_model(repo_id)
        if model is None:
            return None
        last = self._last_put.value
        pair = last.pair if last and last.analysis is analysis else None
        return model.make([analysis])[0] if pair is None else pair

    def check(self, view: View, pair: Vectors) -> None:
        """Raise EmbeddingError if `pair`, a result of `embed`, cannot be compared with the vectors in a view."""
        if self._model is not None:
            self._model.check(view.state, pair)

    def put(self, repo_id: int, issues: Sequence[IndexedIssue], *, embed: bool = True) -> None:
        """Add issues. An issue replaces a stored issue with the same number unless the stored issue is newer.

        `embed=False` leaves the vectors to `embed_missing`. If the model fails, this raises EmbeddingError and writes
        nothing of the current batch.
        """
        for batch in batches(issues, BATCH):
            part = {issue.number: issue for issue in batch}
            while not self._try_put(repo_id, part, embed):
                # Another process has changed one of the issues: read and analyse them again.
                continue

    def _try_put(self, repo_id: int, part: dict[int, IndexedIssue], embed: bool) -> bool:
        """Write issues. If another process has changed one of the texts meanwhile, write nothing and return False."""
        with self._engine.connect() as connection:
            # Read the change numbers before the texts, so that the check of `seen` notices each later change of a text.
            seen = issue_rows.text_changes(connection, repo_id, part)
            known = issue_rows.texts(connection, repo_id, part)
        texts = {number: _storable(issue.title, issue.body) for number, issue in part.items()}
        changed = {number: text for number, text in texts.items() if known.get(number) != text}
        forms = self.about.form_lines(repo_id)
        analyses = self._repository_analyser.read(repo_id, changed)
        model = self._allowed_model(repo_id) if embed and analyses else None
        vectors = model.make(list(analyses.values())) if model else None
        with write(self._engine) as connection:
            state = lock_state(connection, repo_id)
            if issue_rows.text_changes(connection, repo_id, part) != seen:
                return False
            stored_times = issue_rows.updated_at(connection, repo_id, part)
            # Deliveries can overtake each other; GitHub's own time shows which text is newer.
            superseded = {number for number, stored_at in stored_times.items() if stored_at > part[number].updated_at}
            current = [issue for number, issue in part.items() if number not in superseded]
            vector_rows = [row for row, number in enumerate(analyses) if number not in superseded]
            analyses = {number: analysis for number, analysis in analyses.items() if number not in superseded}
            changed = {number: text for number, text in changed.items() if number not in superseded}
            issue_rows.write(connection, repo_id, current, changed)
            if not state.issues:
                state.reading = self._analyser_version  # For `is_outdated`: the version that read the issues.
            replaced = False
            if analyses:
                batch = Batch(self._fields, analyses)
                replaced = self._update_terms(connection, repo_id, state, batch, list(analyses))
                # The first vector of a new model drops all vectors of the old model. Only `embed_missing` may do that.
                if model is not None and vectors is not None and state.model in ("", model.model):
                    model.put(connection, repo_id, state, list(analyses), vectors[vector_rows])
                else:
                    drop(connection, repo_id, state, analyses)
            save_state(connection, repo_id, state)
        if replaced:
            self._recount(repo_id)
        if len(analyses) == 1:
            ((number, analysis),) = analyses.items()
            pair = None if vectors is None else vectors[vector_rows[0]]
            self._last_put.value = _LastPut((repo_id, number, changed[number]), forms, state.sequence, analysis, pair)
        return True

    def remove(self, repo_id: int, numbers: Collection[int]) -> None:
        """Remove issues, and subtract them from all counts."""
        with write(self._engine) as connection:
            state = lock_state(connection, repo_id)
            self._update_terms(connection, repo_id, state, None, numbers)
            drop(connection, repo_id, state, numbers)
            for table in (indexed_issues, indexed_bodies, indexed_terms, indexed_vectors, text_vectors):
                delete(connection, table, repo_id, "number", list(numbers))
            save_state(connection, repo_id, state)
        self._recount(repo_id)

    def forget(self, repo_id: int) -> None:
        """Erase everything that the index stores about a repository (C6a), like `Store.forget`."""
        with write(self._engine) as connection:
            lock_state(connection, repo_id)
            for table in metadata.sorted_tables:
                if table.info.get("index"):
                    connection.execute(sa.delete(table).where(table.c.repo_id == repo_id))
        self._caches.forget(repo_id)

    def is_outdated(self, repo_id: int) -> bool:
        """Whether an earlier version of the analyser read the issues, so that they must be read again."""
        with self._engine.connect() as connection:
            state = load_state(connection, repo_id)
        return state.issues > 0 and state.reading < self._analyser_version

    def missing_vectors(self, repo_id: int, limit: int = 500) -> list[int]:
        """The issues that the configured model has not embedded, newest first."""
        model = self._allowed_model(repo_id)
        if model is None:
            return []
        with self._engine.connect() as connection:
            return model.missing(connection, repo_id, load_state(connection, repo_id), limit)

    def embed_missing(self, repo_id: int, limit: int = 500) -> list[int]:
        """Embed some of the issues that lack vectors, and return their numbers. Call this until the list is empty.

        Vectors of another model are dropped. If a remote endpoint fails midway, the vectors made so far are stored.
        Raises EmbeddingError if no issue could be embedded.
        """
        batch_size = _REMOTE_BATCH if self._model and self._model.remote else max(1, limit)
        done: list[int] = []
        for part in batches(self.missing_vectors(repo_id, limit), batch_size):
            # Sending the repository's texts to the model may have been forbidden meanwhile.
            if (allowed := self._allowed_model(repo_id)) is None:
                break
            try:
                self._embed_part(allowed, repo_id, part)
            except EmbeddingError:
                if done:
                    break
                raise
            done += part
        return done

    def _embed_part(self, model: ModelVectors, repo_id: int, numbers: Sequence[int]) -> None:
        with self._engine.connect() as connection:
            # Read the change numbers before the texts, as in `_try_put`.
            seen = issue_rows.text_changes(connection, repo_id, numbers)
            texts = issue_rows.texts(connection, repo_id, numbers)
        analyses = self._repository_analyser.read(repo_id, texts, again=True)  # Use the boilerplate that `put` found.
        vectors = model.make(list(analyses.values()))
        with write(self._engine) as connection:
            state = lock_state(connection, repo_id)
            current = issue_rows.text_changes(connection, repo_id, analyses)
            rows = [
                row for row, number in enumerate(analyses) if number in current and current[number] == seen.get(number)
            ]
            if rows:
                model.put(connection, repo_id, state, [list(analyses)[row] for row in rows], vectors[rows])
                save_state(connection, repo_id, state)

    def _recount(self, repo_id: int) -> None:
        """Call this after terms were removed. The next search then counts the repository's terms again."""
        with self._caches.using(repo_id) as cache:
            cache.recount()

    def _allowed_model(self, repo_id: int) -> ModelVectors | None:
        """The model for a repository; None without a model, or if the model must not get the repository's texts."""
        return self._model if self._model and self.about.may_embed(repo_id) else None

    def _update_terms(
        self, connection: sa.Connection, repo_id: int, state: IndexState, batch: Batch | None, numbers: Collection[int]
    ) -> bool:
        """Remove the stored terms of `numbers`, and add those of the batch. Returns whether any terms were removed."""
        columns = (indexed_terms.c.number, indexed_terms.c.terms, indexed_terms.c.changed)
        old = fetch(connection, repo_id, columns, indexed_terms.c.number, numbers)
        dropped, dropped_issues, lengths = stored_entries({number: blob for number, blob, _ in old}, len(self._fields))
        state.issues -= len(old)
        for position, length in enumerate(lengths):
            state.lengths[position] = state.lengths.get(position, 0) - length
        added, postings = NO_KEYS, NO_KEYS.astype(np.uint64)
        if batch is not None:
            added, postings = self._add_terms(connection, repo_id, state, batch)
        sequences = {number: sequence for number, _, sequence in old}
        change = PostingsChange(added, postings, dropped, dropped_issues, sequences, self._posted_fields)
        emptied = update_postings(connection, repo_id, change, state.sequence)
        if len(emptied):
            # The low half of an emptied list's key is its term. Forget the term, unless another list has the term.
            terms = set((emptied & 0xFFFFFFFF).tolist())
            keys = {list_key(position, term): term for term in terms for position in range(len(self._fields))}
            still_used = {keys[key] for key in read_lists(connection, repo_id, keys)}
            forget_terms(connection, repo_id, terms - still_used)
        return bool(old)

    def _add_terms(
        self, connection: sa.Connection, repo_id: int, state: IndexState, batch: Batch
    ) -> tuple[Integers, Postings]:
        terms = number_terms(connection, repo_id, batch.hashes, state.next_term)
        state.next_term = max(state.next_term, int(terms.max(initial=0)) + 1)
        added, postings, packed = batch.entries(terms)
        rows = zip(batch.numbers.tolist(), packed, strict=True)
        upsert(connection, indexed_terms, [(repo_id, number, state.sequence, blob) for number, blob in rows])
        state.issues += len(batch.numbers)
        for position, lengths in enumerate(batch.lengths):
            state.lengths[position] = state.lengths.get(position, 0) + int(lengths.sum())
        return added, postings


def _storable(title: str, body: str) -> tuple[str, str]:
    return storable_text(title, LONGEST_TITLE), storable_text(body, LONGEST_BODY)


@contextmanager
def ephemeral_index(
    analyser: TextAnalyser,
    embedder: Embedder | None = None,
    within: Path | None = None,
    text_model: Embedder | None = None,
) -> Iterator[Index]:
    """An empty index in a temporary SQLite file that is not synced to disk.

    The file is in the folder `within`, or else in the system's folder for temporary files.
    """
    with tempfile.TemporaryDirectory(prefix="doppel-", dir=within) as directory:
        engine = make_engine(f"sqlite:///{Path(directory) / 'index.db'}", synchronous="OFF")
        try:
            metadata.create_all(engine)
            yield Index(engine, analyser, embedder, text_model=text_model)
        finally:
            engine.dispose()


@contextmanager
def index_in_memory(
    analyser: TextAnalyser,
    embedder: Embedder | None = None,
    about: RepositoryInfo | None = None,
    text_model: Embedder | None = None,
) -> Iterator[Index]:
    """An empty index in memory, for a few hundred issues and one thread. Creating it takes a few milliseconds."""
    engine = memory_engine()
    try:
        tables = [table for table in metadata.sorted_tables if table.info.get("index")]
        metadata.create_all(engine, tables, checkfirst=False)
        yield Index(engine, analyser, embedder, about, text_model=text_model)
    finally:
        engine.dispose()
