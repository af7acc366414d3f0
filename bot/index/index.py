"""The index of all repositories: issues are put in and taken out here; finding is done in a view."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import sqlalchemy as sa

from bot.embedding import Embedder, EmbeddingError
from bot.index import issues as issue_rows
from bot.index import lists, vectors, vocabulary
from bot.index import state as states
from bot.index.about import About, Anything
from bot.index.analysis import Analyser, Analysis, counted, hashes, whole
from bot.index.batch import Batch, stored_entries
from bot.index.database import delete, fetch, upsert
from bot.index.issues import LONGEST_BODY, LONGEST_TITLE, IndexedIssue, kept_text
from bot.index.lists import Change
from bot.index.memory import Memories
from bot.index.models import Prevailing
from bot.index.packing import Integers, Postings
from bot.index.pgvector import Pgvector
from bot.index.state import NO_VECTORS, State
from bot.index.supplied import SUPPLIED_ISSUES, supplied
from bot.index.vectors import Vectors
from bot.index.view import View
from bot.store.engine import write
from bot.store.index_tables import indexed_bodies, indexed_issues, indexed_terms, indexed_vectors
from bot.store.schema import metadata

#: Issues that are written in one transaction at most. The more there are, the fewer pages are written for each.
BATCH = 5_000
#: Vectors are centred from so many on, and anew whenever there are twice as many.
FIRST_CENTRE = 512

_EMPTY = np.zeros(0, dtype=np.int64)


class Index:
    """Issues of many repositories, which know nothing of each other. Safe to share between threads and processes.

    Without an `embedder` there are no vectors, and everything else works. The same holds for a repository whose texts
    must not be given to it.
    """

    def __init__(
        self,
        engine: sa.Engine,
        analyser: Analyser,
        embedder: Embedder | None = None,
        about: About | None = None,
        *,
        pgvector: bool = True,
    ) -> None:
        """Use an engine made by `make_engine`, on a database that `migrate` has prepared.

        With `pgvector` the database may compare vectors. It finds nearly the same as a process that has read them, and
        where the answers must not depend on which of them was asked, it is left alone.
        """
        self._engine = engine
        self._analyser = analyser
        self._embedder = embedder
        self._about = about or Anything()
        self._fields = analyser.fields
        self._posted = {position for position, field in enumerate(self._fields) if field.posted}
        self._position = {field.name: position for position, field in enumerate(self._fields)}
        self._memories = Memories()
        self._pgvector = Pgvector(pgvector)
        self._prevailing = Prevailing()

    def close(self) -> None:
        """Let go of the connections to the database; what is asked afterwards makes new ones."""
        self._engine.dispose()

    @contextmanager
    def view(self, repo_id: int) -> Iterator[View]:
        """A repository as it is now, for reading."""
        with self._engine.connect() as connection, self._memories.using(repo_id) as memory:
            # All that one find reads is of one moment.
            if connection.dialect.name == "postgresql":
                connection.execution_options(isolation_level="REPEATABLE READ")
            else:
                # Python's driver begins nothing before a write.
                connection.exec_driver_sql("BEGIN")
            state = memory.state(connection, repo_id)
            yield View(connection, repo_id, self._fields, memory, state, self._pgvector)

    def count(self, repo_id: int) -> int:
        """How many issues of a repository there are."""
        with self._engine.connect() as connection:
            return states.load(connection, repo_id).issues

    def numbers(self, repo_id: int, above: int, limit: int) -> list[int]:
        """The numbers of issues, from the one after `above` on, in order."""
        mine = sa.and_(indexed_issues.c.repo_id == repo_id, indexed_issues.c.number > above)
        query = sa.select(indexed_issues.c.number).where(mine).order_by(indexed_issues.c.number).limit(limit)
        with self._engine.connect() as connection:
            return list(connection.execute(query).scalars())

    def vector_count(self, repo_id: int) -> int | None:
        """How many issues of a repository have vectors of the present model; None where it gets none."""
        if self._embedder is None or not self._embeds(repo_id):
            return None
        with self._engine.connect() as connection:
            state = states.load(connection, repo_id)
            if not self._may_write(connection, repo_id, state):
                return None
        return state.vectors if state.model == self._embedder.name else 0

    def analyse(self, repo_id: int, title: str, body: str) -> Analysis:
        """Read a text as the repository's issues are read, without what its forms supply; nothing is stored."""
        return self._read(repo_id, {0: _kept(title, body)})[0]

    def embed(self, repo_id: int, analysis: Analysis) -> Vectors | None:
        """The two vectors of a repository's text, (2, dimensions); None without a model.

        Raises EmbeddingError, also while the repository's vectors are still those of another model.
        """
        if self._embedder is None or not self._embeds(repo_id):
            return None
        # As it was when the text was analysed.
        with self._memories.using(repo_id) as memory:
            model = memory.model
        if model not in ("", self._embedder.name):
            if self._prevailing.outdone(repo_id):
                raise EmbeddingError("the vectors are of a model that was chosen later, which only other workers have")
            raise EmbeddingError("the model was changed, and the issues are being embedded anew")
        pair: Vectors = self._embed([analysis])[0]
        return pair

    def put(self, repo_id: int, issues: Sequence[IndexedIssue], *, embed: bool = True) -> None:
        """Add issues, or replace those with the same numbers; what is older than what is stored changes nothing.

        With `embed` False vectors are left for `embed_missing`. Raises EmbeddingError, before anything is written.
        """
        for start in range(0, len(issues), BATCH):
            part = {issue.number: issue for issue in issues[start : start + BATCH]}
            while (state := self._put(repo_id, part, embed)) is None:
                # Somebody changed one of them meanwhile, so that what is to be written is another.
                continue
            self._follow(repo_id, state, part)

    def _put(self, repo_id: int, part: dict[int, IndexedIssue], embed: bool) -> State | None:
        """Write issues; None, and nothing is written, where the text of one was changed while they were read."""
        with self._engine.connect() as connection:
            # Before the texts: what changes while these are read, analysed or embedded has another number by then.
            seen = _changes(connection, repo_id, part)
            known = issue_rows.texts(connection, repo_id, part)
            if embed and self._prevailing.outdone(repo_id):
                embed = self._may_write(connection, repo_id, states.load(connection, repo_id))
        texts = {number: _kept(issue.title, issue.body) for number, issue in part.items()}
        changed = {number: text for number, text in texts.items() if known.get(number) != text}
        analyses = self._read(repo_id, changed)
        embedded = self._embed(list(analyses.values())) if embed and analyses and self._embeds(repo_id) else None
        with write(self._engine) as connection:
            state = states.lock(connection, repo_id)
            if _changes(connection, repo_id, part) != seen:
                return None
            self._write(connection, repo_id, state, part, changed, analyses, embedded)
        return state

    def remove(self, repo_id: int, numbers: Collection[int]) -> None:
        """Take issues out, with all that was counted of them."""
        with write(self._engine) as connection:
            state = states.lock(connection, repo_id)
            self._change(connection, repo_id, state, None, numbers)
            self._drop_vectors(connection, repo_id, state, numbers)
            for table in (indexed_issues, indexed_bodies, indexed_terms, indexed_vectors):
                delete(connection, table, repo_id, "number", list(numbers))
            self._save(connection, repo_id, state)
        self._follow(repo_id, state, numbers)

    def forget(self, repo_id: int) -> None:
        """Erase all that is stored of a repository's issues (C6a). `Store.forget` does this too."""
        with write(self._engine) as connection:
            states.lock(connection, repo_id)
            for table in metadata.sorted_tables:
                if table.info.get("index"):
                    connection.execute(sa.delete(table).where(table.c.repo_id == repo_id))
        self._memories.forget(repo_id)

    def missing_vectors(self, repo_id: int, limit: int = 500, below: int | None = None) -> list[int]:
        """Numbers of issues that the present model has not embedded, newest first; `below` continues a walk."""
        if self._embedder is None or not self._embeds(repo_id):
            return []
        with self._engine.connect() as connection:
            state = states.load(connection, repo_id)
            if not self._may_write(connection, repo_id, state):
                return []
            if state.model == self._embedder.name:
                if state.vectors >= state.issues:
                    return []
                return vectors.missing(connection, repo_id, limit, below)
            query = sa.select(indexed_terms.c.number).where(indexed_terms.c.repo_id == repo_id)
            if below is not None:
                query = query.where(indexed_terms.c.number < below)
            return list(connection.execute(query.order_by(indexed_terms.c.number.desc()).limit(limit)).scalars())

    def embed_missing(self, repo_id: int, limit: int = 500, below: int | None = None) -> list[int]:
        """Embed some of the issues that lack vectors; returns which. To be called until it returns none.

        Where the stored vectors are of another model, they are dropped first. Raises EmbeddingError.
        """
        numbers = self.missing_vectors(repo_id, limit, below)
        if not numbers:
            return []
        with self._engine.connect() as connection:
            # As in `_put`.
            seen = _changes(connection, repo_id, numbers)
            texts = issue_rows.texts(connection, repo_id, numbers)
        analyses = self._read(repo_id, texts)
        embedded = self._embed(list(analyses.values()))
        with write(self._engine) as connection:
            state = states.lock(connection, repo_id)
            now = _changes(connection, repo_id, analyses)
            kept = [row for row, number in enumerate(analyses) if number in now and now[number] == seen.get(number)]
            if kept and not self._may_write(connection, repo_id, state, take=True):
                kept = []
            if kept:
                self._put_vectors(connection, repo_id, state, [list(analyses)[row] for row in kept], embedded[kept])
                self._save(connection, repo_id, state)
        if kept:
            self._follow(repo_id, state, ())
        return numbers

    def _follow(self, repo_id: int, state: State, numbers: Collection[int]) -> None:
        """Tell what this process remembers that these issues have changed, once the change is committed."""
        assert state.before is not None
        with self._memories.using(repo_id) as memory:
            memory.follow(state.before, state.version, numbers, state.lost_words)

    def _read(self, repo_id: int, texts: dict[int, tuple[str, str]]) -> dict[int, Analysis]:
        """Analyse texts one after the other, each knowing the lines of those before it."""
        lines = {number: self._analyser.lines_of(body) for number, (_, body) in texts.items()}
        copies = {number: whole(title, lines[number]) for number, (title, _) in texts.items()}
        own = {number: counted(every) for number, every in lines.items()}
        here = Counter(itertools.chain.from_iterable(own.values()))
        # Asked while no connection is held: the answer may need one, and threads would wait for one another's.
        forms = [counted(self._analyser.lines_of(line)) for line in self._about.form_lines(repo_id)]
        with self._engine.connect() as connection, self._memories.using(repo_id) as memory:
            count = memory.state(connection, repo_id).issues
            seen = self._lines_seen(connection, repo_id, {*here, *copies.values()})
        known = set(itertools.chain.from_iterable(forms))
        # Few lines can come from the form at all, so few are looked at one by one.
        usual = {line for line, issues in here.items() if issues + seen[line] >= SUPPLIED_ISSUES} | known
        analyses = {}
        for number, (title, body) in texts.items():
            possible, copy = usual.intersection(lines[number]), copies[number]
            form = supplied(possible, own[number], known, seen, seen[copy], count) if possible else ()
            analyses[number] = self._analyser.read(title, body, lines[number], form)
            seen.update(own[number])
            seen[copy] += copy in analyses[number].terms[self._analyser.lines]
            count += 1
        return analyses

    def _lines_seen(self, connection: sa.Connection, repo_id: int, lines: Collection[str]) -> Counter[str]:
        if not lines:
            return Counter()
        position = self._position[self._analyser.lines]
        named = dict(zip(hashes(self._fields[position].space, lines), lines, strict=True))
        known = vocabulary.look_up(connection, repo_id, named)
        keys = {lists.key(position, term): named[value] for value, term in known.items()}
        return Counter({keys[key]: row[1] for key, row in lists.look_up(connection, repo_id, keys).items()})

    def _embeds(self, repo_id: int) -> bool:
        return self._embedder is not None and self._about.may_embed(repo_id)

    def _may_write(self, connection: sa.Connection, repo_id: int, state: State, *, take: bool = False) -> bool:
        """Whether vectors of this model may be written, in the place of those of another if there are any."""
        assert self._embedder is not None
        return self._prevailing.may_write(connection, repo_id, state, self._embedder.name, take=take)

    def _embed(self, analyses: Sequence[Analysis]) -> Vectors:
        assert self._embedder is not None
        texts = [analysis.title for analysis in analyses] + [analysis.text for analysis in analyses]
        both = self._embedder.embed(texts)
        return np.stack([both[: len(analyses)], both[len(analyses) :]], axis=1)

    def _write(
        self,
        connection: sa.Connection,
        repo_id: int,
        state: State,
        part: dict[int, IndexedIssue],
        changed: dict[int, tuple[str, str]],
        analyses: dict[int, Analysis],
        embedded: Vectors | None,
    ) -> None:
        stored = issue_rows.updated(connection, repo_id, part)
        # Two deliveries can overtake each other; GitHub's own time says which of them is the later state.
        late = {number for number, at in stored.items() if at > part[number].updated_at}
        current = [issue for number, issue in part.items() if number not in late]
        rows = [row for row, number in enumerate(analyses) if number not in late]
        analyses = {number: analysis for number, analysis in analyses.items() if number not in late}
        texts = {number: text for number, text in changed.items() if number not in late}
        issue_rows.write(connection, repo_id, current, texts)
        if analyses:
            self._change(connection, repo_id, state, Batch(self._fields, analyses), list(analyses))
            if embedded is not None and self._may_write(connection, repo_id, state, take=True):
                self._put_vectors(connection, repo_id, state, list(analyses), embedded[rows])
            else:
                self._drop_vectors(connection, repo_id, state, analyses)
        self._save(connection, repo_id, state)

    def _save(self, connection: sa.Connection, repo_id: int, state: State) -> None:
        """Write the state back, and have the vectors taken over by what compares them in the database."""
        states.save(connection, repo_id, state)
        self._pgvector.follow(connection, repo_id, state)

    def _change(
        self, connection: sa.Connection, repo_id: int, state: State, batch: Batch | None, numbers: Collection[int]
    ) -> None:
        """Take out the terms of `numbers` that are stored, and add those of the batch."""
        columns = (indexed_terms.c.number, indexed_terms.c.terms, indexed_terms.c.changed)
        old = fetch(connection, repo_id, columns, indexed_terms.c.number, numbers)
        dropped, leaving, lengths = stored_entries({row[0]: row[1] for row in old}, len(self._fields))
        state.issues -= len(old)
        for position, length in enumerate(lengths):
            state.lengths[position] = state.lengths.get(position, 0) - length
        added, postings = _EMPTY, _EMPTY.astype(np.uint64)
        if batch is not None:
            added, postings = self._add(connection, repo_id, state, batch)
        since = {row[0]: row[2] for row in old}
        change = Change(added, postings, dropped, leaving, since, self._posted)
        empty = lists.apply(connection, repo_id, change, state.sequence)
        if len(empty):
            terms = set((empty & 0xFFFFFFFF).tolist())
            keys = {lists.key(position, term): term for term in terms for position in range(len(self._fields))}
            used = {keys[key] for key in lists.look_up(connection, repo_id, keys)}
            vocabulary.forget(connection, repo_id, terms - used)
            state.lost_words = True

    def _add(self, connection: sa.Connection, repo_id: int, state: State, batch: Batch) -> tuple[Integers, Postings]:
        terms = vocabulary.assign(connection, repo_id, batch.hashes, state.next_term)
        state.next_term = max(state.next_term, int(terms.max(initial=0)) + 1)
        added, postings, packed = batch.entries(terms)
        rows = zip(batch.numbers.tolist(), packed, strict=True)
        upsert(connection, indexed_terms, [(repo_id, number, state.sequence, blob) for number, blob in rows])
        state.issues += len(batch.numbers)
        for position, lengths in enumerate(batch.lengths):
            state.lengths[position] = state.lengths.get(position, 0) + int(lengths.sum())
        return added, postings

    def _put_vectors(
        self, connection: sa.Connection, repo_id: int, state: State, numbers: Sequence[int], embedded: Vectors
    ) -> None:
        assert self._embedder is not None
        if state.model != self._embedder.name:
            connection.execute(sa.delete(indexed_vectors).where(indexed_vectors.c.repo_id == repo_id))
            state.model, state.vectors, state.vector_sum, state.centre = self._embedder.name, 0, NO_VECTORS, NO_VECTORS
        self._drop_vectors(connection, repo_id, state, numbers)
        blobs = vectors.pack(embedded)
        rows = [(repo_id, number, state.sequence, blob) for number, blob in zip(numbers, blobs, strict=True)]
        upsert(connection, indexed_vectors, rows)
        before = state.vectors
        state.vectors += len(numbers)
        # Of what was stored, so that it can be taken back exactly.
        total = vectors.unpack(blobs).sum(axis=0, dtype=np.float64)
        state.vector_sum = state.vector_sum + total if state.vector_sum.size else total
        if state.vectors >= FIRST_CENTRE and state.vectors.bit_length() > before.bit_length():
            state.centre = state.vector_sum / state.vectors

    def _drop_vectors(self, connection: sa.Connection, repo_id: int, state: State, numbers: Collection[int]) -> None:
        old = vectors.read(connection, repo_id, numbers)
        if old:
            state.vector_sum = state.vector_sum - vectors.unpack(list(old.values())).sum(axis=0, dtype=np.float64)
            state.vectors -= len(old)
            delete(connection, indexed_vectors, repo_id, "number", list(old))


def _changes(connection: sa.Connection, repo_id: int, numbers: Collection[int]) -> dict[int, int]:
    """In which change each of those issues that are there got the text that it has."""
    return dict(
        fetch(connection, repo_id, (indexed_terms.c.number, indexed_terms.c.changed), indexed_terms.c.number, numbers)
    )


def _kept(title: str, body: str) -> tuple[str, str]:
    return kept_text(title, LONGEST_TITLE), kept_text(body, LONGEST_BODY)
