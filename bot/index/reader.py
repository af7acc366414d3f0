"""Reads texts as the issues of their repository are read: what its forms supply is left out."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection

import sqlalchemy as sa

from bot.index import lists, vocabulary
from bot.index.about import About
from bot.index.analysis import Analyser, Analysis, counted, hashes, whole
from bot.index.memory import Memories
from bot.index.supplied import SUPPLIED_ISSUES, supplied


class Reader:
    """One for all repositories of an index, whose engine and memories it shares. Nothing is stored here."""

    def __init__(self, engine: sa.Engine, analyser: Analyser, about: About, memories: Memories) -> None:
        self._engine = engine
        self._analyser = analyser
        self._about = about
        self._memories = memories
        names = [field.name for field in analyser.fields]
        self._lines = names.index(analyser.lines) if analyser.lines else None

    def read(self, repo_id: int, texts: dict[int, tuple[str, str]]) -> dict[int, Analysis]:
        """Analyse titles and bodies, by number, one after the other, each knowing the lines of those before it."""
        lines = {number: self._analyser.lines_of(body) for number, (_, body) in texts.items()}
        copies = {number: whole(title, lines[number]) for number, (title, _) in texts.items()}
        own = {number: counted(every) for number, every in lines.items()}
        here = Counter(itertools.chain.from_iterable(own.values()))
        # Asked while no connection is held: the answer may need one, and threads would wait for one another's.
        forms = [counted(self._analyser.lines_of(line)) for line in self._about.form_lines(repo_id)]
        with self._engine.connect() as connection, self._memories.using(repo_id) as memory:
            count = memory.state(connection, repo_id).issues
            seen = self._seen(connection, repo_id, {*here, *copies.values()})
        known = set(itertools.chain.from_iterable(forms))
        # Few lines can come from the form at all, so few are looked at one by one.
        usual = {line for line, issues in here.items() if issues + seen[line] >= SUPPLIED_ISSUES} | known
        analyses = {}
        for number, (title, body) in texts.items():
            possible, copy = usual.intersection(lines[number]), copies[number]
            form = supplied(possible, own[number], known, seen, seen[copy], count) if possible else ()
            analyses[number] = self._analyser.read(title, body, lines[number], form)
            seen.update(own[number])
            seen[copy] += copy in analyses[number].terms.get(self._analyser.lines, ())
            count += 1
        return analyses

    def _seen(self, connection: sa.Connection, repo_id: int, lines: Collection[str]) -> Counter[str]:
        """In how many stored issues each of these lines is."""
        if self._lines is None or not lines:
            return Counter()
        named = dict(zip(hashes(self._analyser.fields[self._lines].space, lines), lines, strict=True))
        known = vocabulary.look_up(connection, repo_id, named)
        keys = {lists.key(self._lines, term): named[value] for value, term in known.items()}
        return Counter({keys[key]: row[1] for key, row in lists.look_up(connection, repo_id, keys).items()})
