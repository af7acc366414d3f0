"""The parts of a compiled query. Each part selects matching documents, or narrows a given set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from bot.simulator.search.inverted import FieldIndex, pack


class Matcher(Protocol):
    """A compiled part. `estimate` is its approximate number of documents: the rarest part is evaluated first."""

    estimate: float

    def select(self) -> set[int]:
        """All documents that match, as a new set."""
        ...

    def narrow(self, documents: set[int]) -> set[int]:
        """The given documents that match."""
        ...


class TermMatcher:
    """Documents with a term in one of the fields."""

    def __init__(self, term: int, fields: Sequence[FieldIndex]) -> None:
        self._postings = [postings.keys() for field in fields if (postings := field.postings.get(term))]
        self.estimate = float(sum(map(len, self._postings)))

    def select(self) -> set[int]:
        return set().union(*self._postings)

    def narrow(self, documents: set[int]) -> set[int]:
        return set().union(*(postings & documents for postings in self._postings))


class PhraseMatcher:
    """Documents with the terms side by side in one of the fields."""

    def __init__(self, terms: Sequence[int], fields: Sequence[FieldIndex]) -> None:
        self._words = AllMatcher([TermMatcher(term, fields) for term in terms])
        self._phrase = pack(terms)
        self._fields = fields
        self.estimate = self._words.estimate

    def select(self) -> set[int]:
        return set(filter(self._has_phrase, self._words.select()))

    def narrow(self, documents: set[int]) -> set[int]:
        return set(filter(self._has_phrase, self._words.narrow(documents)))

    def _has_phrase(self, document: int) -> bool:
        return any(field.has_phrase(document, self._phrase) for field in self._fields)


class FilterMatcher:
    """Documents that pass a test. `universe` gives all documents that a query can reach."""

    def __init__(self, test: Callable[[int], bool], universe: Callable[[], Iterable[int]]) -> None:
        self._test = test
        self._universe = universe
        self.estimate = float("inf")

    def select(self) -> set[int]:
        return set(filter(self._test, self._universe()))

    def narrow(self, documents: set[int]) -> set[int]:
        return set(filter(self._test, documents))


class NotMatcher:
    """Documents that a part does not match."""

    def __init__(self, excluded: Matcher, universe: Callable[[], Iterable[int]]) -> None:
        self._excluded = excluded
        self._universe = universe
        self.estimate = float("inf")

    def select(self) -> set[int]:
        return self.narrow(set(self._universe()))

    def narrow(self, documents: set[int]) -> set[int]:
        return documents - self._excluded.narrow(documents)


class AllMatcher:
    """Documents that all parts match; there is at least one part."""

    def __init__(self, parts: Sequence[Matcher]) -> None:
        self._parts = sorted(parts, key=lambda part: part.estimate)
        self.estimate = self._parts[0].estimate

    def select(self) -> set[int]:
        return self._narrow_by(self._parts[1:], self._parts[0].select())

    def narrow(self, documents: set[int]) -> set[int]:
        return self._narrow_by(self._parts, documents)

    @staticmethod
    def _narrow_by(parts: Sequence[Matcher], documents: set[int]) -> set[int]:
        for part in parts:
            documents = part.narrow(documents)
        return documents


class AnyMatcher:
    """Documents that at least one part matches."""

    def __init__(self, parts: Sequence[Matcher]) -> None:
        self._parts = parts
        self.estimate = sum(part.estimate for part in parts)

    def select(self) -> set[int]:
        return set().union(*(part.select() for part in self._parts))

    def narrow(self, documents: set[int]) -> set[int]:
        return set().union(*(part.narrow(documents) for part in self._parts))
