"""Analyses texts the way their repository's issues are analysed: without the boilerplate of its issue forms."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from bot.search.index.analysis import (
    SUPPLIED_ISSUES,
    Analysis,
    RepositoryInfo,
    TextAnalyser,
    counted,
    hashes,
    supplied,
    supplied_before,
    whole,
)
from bot.search.index.arrays import unpack_terms
from bot.search.index.database import fetch, load_state
from bot.search.index.postings import issues_in, list_key, term_numbers
from bot.storage.schema import indexed_terms


class RepositoryAnalyser:
    """Serves all repositories of an index. It stores nothing."""

    def __init__(self, engine: sa.Engine, analyser: TextAnalyser, about: RepositoryInfo) -> None:
        self._engine = engine
        self._analyser = analyser
        self._about = about
        names = [field.name for field in analyser.fields]
        self._counted = [names.index(name) for name in (analyser.lines, analyser.supplied)]

    def read(self, repo_id: int, texts: dict[int, tuple[str, str]]) -> dict[int, Analysis]:
        """Analyse titles and bodies, by number, one after the other; each counts the lines of those before it.

        A stored issue is read as if it were new: its own lines are no sign of a form.
        """
        return self._read(repo_id, texts, again=False)

    def read_again(self, repo_id: int, texts: dict[int, tuple[str, str]]) -> dict[int, Analysis]:
        """Analyse stored titles and bodies, by number, without the same boilerplate as when they were stored."""
        return self._read(repo_id, texts, again=True)

    def _read(self, repo_id: int, texts: dict[int, tuple[str, str]], *, again: bool) -> dict[int, Analysis]:
        lines = {number: self._analyser.lines_of(body) for number, (_, body) in texts.items()}
        copies = {number: whole(title, lines[number]) for number, (title, _) in texts.items()}
        own = {number: counted(every) for number, every in lines.items()}
        here = Counter(itertools.chain.from_iterable(own.values()))
        # Asked before a connection is taken: it may need one, too, and threads would wait for each other.
        forms = [counted(self._analyser.lines_of(line)) for line in self._about.form_lines(repo_id)]
        with self._engine.connect() as connection:
            count = load_state(connection, repo_id).issues
            asked = {*(itertools.chain.from_iterable(lines.values()) if again else here), *copies.values()}
            named = dict(zip(hashes(self._analyser.lines, asked), asked, strict=True))
            # Lines that any stored issue has, by their numbers as terms.
            terms = {term: named[value] for value, term in term_numbers(connection, repo_id, named).items()}
            seen = self._seen(connection, repo_id, terms)
            known = set(itertools.chain.from_iterable(forms))
            # Few lines are common enough to come from a form.
            usual = {line for line, issues in here.items() if issues + seen[line] >= SUPPLIED_ISSUES} | known
            columns, key = (indexed_terms.c.number, indexed_terms.c.terms), indexed_terms.c.number
            stored = dict(fetch(connection, repo_id, columns, key, texts)) if usual or again else {}
        before = self._before(stored, lines, copies, terms) if again else {}
        analyses = {}
        for number, (title, body) in texts.items():
            if (form := before.get(number)) is not None:
                analyses[number] = self._analyser.read(title, body, lines[number], form)
                continue
            if number in stored:
                bags = unpack_terms([stored[number]], self._counted)
                seen.subtract(terms[term] for bag in bags for term in bag.terms.tolist() if term in terms)
                count -= 1
            possible, copy = usual.intersection(lines[number]), copies[number]
            form = supplied(possible, own[number], known, seen, seen[copy], count) if possible else set()
            analyses[number] = self._analyser.read(title, body, lines[number], form)
            seen.update(own[number])
            seen[copy] += copy in analyses[number].terms.get(self._analyser.lines, ())
            count += 1
        return analyses

    def _seen(self, connection: sa.Connection, repo_id: int, terms: Mapping[int, str]) -> Counter[str]:
        """In how many stored issues each line occurs, as their own or as boilerplate."""
        keys = {list_key(field, term): line for term, line in terms.items() for field in self._counted}
        seen = Counter[str]()
        for key, issues in issues_in(connection, repo_id, keys).items():
            seen[keys[key]] += issues
        return seen

    def _before(
        self,
        stored: Mapping[int, bytes],
        lines: Mapping[int, Sequence[str]],
        copies: Mapping[int, str],
        terms: Mapping[int, str],
    ) -> dict[int, set[str] | None]:
        """The boilerplate of stored issues, by number; None if it is not known."""
        found = {}
        for number, packed in stored.items():
            (bag,) = unpack_terms([packed], self._counted[:1])
            then = {terms.get(term, "") for term in bag.terms.tolist()}
            found[number] = supplied_before(lines[number], copies[number], then)
        return found
