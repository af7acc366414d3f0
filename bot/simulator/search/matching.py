"""The parts of a compiled query: terms select by posting lists, everything else tests what they leave."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from bot.simulator.search.inverted import FieldIndex, pack

Test = Callable[[int], bool]


class Matcher(Protocol):
    """A compiled part of a query. `estimate` bounds how many documents `select` yields, to begin with the fewest."""

    estimate: float

    def select(self) -> set[int]:
        """All documents that match."""
        ...

    def test(self, document: int) -> bool:
        """Whether this one does."""
        ...


class TermMatcher:
    """Documents with a term in one of the fields."""

    def __init__(self, term: int, fields: Sequence[FieldIndex]) -> None:
        self._postings = [postings for field in fields if (postings := field.postings.get(term))]
        self.estimate = float(sum(map(len, self._postings)))

    def select(self) -> set[int]:
        return set().union(*self._postings)

    def test(self, document: int) -> bool:
        return any(document in postings for postings in self._postings)


class PhraseMatcher:
    """Documents with the terms side by side in one of the fields."""

    def __init__(self, terms: Sequence[int], fields: Sequence[FieldIndex]) -> None:
        self._words = [TermMatcher(term, fields) for term in terms]
        self._phrase = pack(terms)
        self._fields = fields
        self.estimate = min(word.estimate for word in self._words)

    def select(self) -> set[int]:
        return {document for document in AllMatcher(self._words).select() if self._in_a_field(document)}

    def test(self, document: int) -> bool:
        return all(word.test(document) for word in self._words) and self._in_a_field(document)

    def _in_a_field(self, document: int) -> bool:
        return any(field.has_phrase(document, self._phrase) for field in self._fields)


class TestMatcher:
    """Documents of the universe that pass a test."""

    __test__ = False  # Not a test case, whatever its name says.

    def __init__(self, test: Test, universe: Callable[[], Iterable[int]]) -> None:
        self.test = test
        self._universe = universe
        self.estimate = float("inf")

    def select(self) -> set[int]:
        return set(filter(self.test, self._universe()))


class AllMatcher:
    """Documents that all parts match."""

    def __init__(self, parts: Sequence[Matcher]) -> None:
        self._parts = sorted(parts, key=lambda part: part.estimate)
        self.estimate = self._parts[0].estimate

    def select(self) -> set[int]:
        selected = self._parts[0].select()
        for part in self._parts[1:]:
            selected = set(filter(part.test, selected))
        return selected

    def test(self, document: int) -> bool:
        return all(part.test(document) for part in self._parts)


class AnyMatcher:
    """Documents that at least one part matches."""

    def __init__(self, parts: Sequence[Matcher]) -> None:
        self._parts = parts
        self.estimate = sum(part.estimate for part in parts)

    def select(self) -> set[int]:
        return set().union(*(part.select() for part in self._parts))

    def test(self, document: int) -> bool:
        return any(part.test(document) for part in self._parts)
