"""Analyses issues without boilerplate. Boilerplate lines belong to the repository's forms, or recur in many issues."""

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
    countable_lines,
    find_boilerplate,
    hashes,
    stored_boilerplate,
    whole_issue_term,
)
from bot.search.index.arrays import unpack_terms
from bot.search.index.database import fetch, load_state
from bot.search.index.postings import issues_in, list_key, term_numbers
from bot.storage.schema import indexed_terms


class RepositoryAnalyser:
    """Analyses texts of all repositories of an index. Stores nothing."""

    def __init__(self, engine: sa.Engine, analyser: TextAnalyser, info: RepositoryInfo) -> None:
        self._engine = engine
        self._analyser = analyser
        self._info = info
        names = [field.name for field in analyser.fields]
        self._line_fields = [names.index(name) for name in (analyser.lines, analyser.supplied)]

    def read(self, repo_id: int, texts: dict[int, tuple[str, str]], *, again: bool = False) -> dict[int, Analysis]:
        """Analyse titles and bodies (by number) in order: an issue's lines count for later issues.

        A stored issue is analysed as if it were new: its stored lines do not count. With `again`, a stored issue keeps
        the boilerplate that was found when the issue was stored, if that boilerplate is known.
        """
        lines = {number: self._analyser.lines_of(body) for number, (_, body) in texts.items()}
        # Copies of an issue have the same whole-issue term. Counting the term in `seen` counts the copies.
        whole_terms = {number: whole_issue_term(title, lines[number]) for number, (title, _) in texts.items()}
        countable = {number: countable_lines(all_lines) for number, all_lines in lines.items()}
        new_counts = Counter(itertools.chain.from_iterable(countable.values()))
        # Get the form lines before connecting: `form_lines` may need a connection too, and threads could deadlock.
        comparable = [countable_lines(self._analyser.lines_of(line)) for line in self._info.form_lines(repo_id)]
        form_lines = set(itertools.chain.from_iterable(comparable))
        with self._engine.connect() as connection:
            count = load_state(connection, repo_id).issues
            # `new_counts` has only the first MOST_LINES lines of an issue. The index has the first MOST_LINES that were
            # not boilerplate, and some of these lines may come later in the issue. So `again` looks up all lines.
            wanted = {*(itertools.chain.from_iterable(lines.values()) if again else new_counts), *whole_terms.values()}
            by_hash = dict(zip(hashes(self._analyser.lines, wanted), wanted, strict=True))
            # The wanted lines that stored issues have, by term number.
            line_of = {term: by_hash[value] for value, term in term_numbers(connection, repo_id, by_hash).items()}
            seen = self._seen(connection, repo_id, line_of)
            common = form_lines | {line for line, new in new_counts.items() if new + seen[line] >= SUPPLIED_ISSUES}
            # Stored terms matter only for `again` and for lines that may be boilerplate (`common`).
            columns = (indexed_terms.c.number, indexed_terms.c.terms)
            stored = dict(fetch(connection, repo_id, columns, columns[0], texts)) if common or again else {}
        earlier = self._earlier_boilerplate(stored, lines, whole_terms, line_of) if again else {}
        analyses = {}
        for number, (title, body) in texts.items():
            if (boilerplate := earlier.get(number)) is not None:
                analyses[number] = self._analyser.read(title, body, lines[number], boilerplate)
                continue
            if number in stored:  # do not count the issue's own stored lines
                bags = unpack_terms([stored[number]], self._line_fields)
                seen.subtract(line_of[term] for bag in bags for term in bag.terms.tolist() if term in line_of)
                count -= 1
            possible, whole_term = common.intersection(lines[number]), whole_terms[number]
            boilerplate = set()
            if possible:
                copies = seen[whole_term]
                boilerplate = find_boilerplate(possible, countable[number], form_lines, seen, copies, count)
            analyses[number] = self._analyser.read(title, body, lines[number], boilerplate)
            seen.update(countable[number])
            # An issue without lines of its own has no whole-issue term in the index.
            if whole_term in analyses[number].terms.get(self._analyser.lines, ()):
                seen[whole_term] += 1
            count += 1
        return analyses

    def _seen(self, connection: sa.Connection, repo_id: int, line_of: Mapping[int, str]) -> Counter[str]:
        """In how many stored issues each line occurs, as boilerplate (field `supplied`) or not."""
        keys = {list_key(field, term): line for term, line in line_of.items() for field in self._line_fields}
        seen = Counter[str]()
        for key, issues in issues_in(connection, repo_id, keys).items():
            seen[keys[key]] += issues
        return seen

    def _earlier_boilerplate(
        self,
        stored: Mapping[int, bytes],
        lines: Mapping[int, Sequence[str]],
        whole_terms: Mapping[int, str],
        line_of: Mapping[int, str],
    ) -> dict[int, set[str] | None]:
        """For each issue, the lines that were boilerplate when the issue was stored; None if that is unknown."""
        boilerplate = {}
        for number, packed in stored.items():
            (own_lines,) = unpack_terms([packed], self._line_fields[:1])
            stored_lines = {line_of.get(term, "") for term in own_lines.terms.tolist()}
            boilerplate[number] = stored_boilerplate(lines[number], whole_terms[number], stored_lines)
        return boilerplate
