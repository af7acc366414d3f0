"""The index gives what a slow and obvious reference gives, after any sequence of changes in any repository."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bot.search.index import Index, IndexedIssue, Query, Scores, binary, bm25, idf, postings

WORDS = ["alpha", "beta", "gamma", "delta", "getUserName", "panic", "错误信息", "x1"]

texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
puts = st.tuples(
    st.just("put"),
    st.lists(st.tuples(st.integers(1, 9), texts, texts), min_size=1, max_size=5, unique_by=lambda one: one[0]),
)
removals = st.tuples(st.just("remove"), st.lists(st.integers(1, 9), max_size=4, unique=True))
changes = st.lists(st.tuples(st.integers(0, 1), puts | removals), max_size=8)

_ids = itertools.count(1)


class Reference:
    """One repository as a dictionary; every question is answered from scratch."""

    def __init__(self, index: Index, repo_id: int) -> None:
        self._index = index
        self._id = repo_id
        self.texts: dict[int, tuple[str, str]] = {}

    def fields(self, title: str, body: str) -> dict[str, Counter[str]]:
        terms = self._index.analyse(self._id, title, body).terms
        return {name: Counter(terms[name]) for name in ("title", "words")}

    def issues_with(self, words: Sequence[str], field: str) -> NDArray[np.float64]:
        bags = [self.fields(*text)[field] for text in self.texts.values()]
        return np.array([sum(word in bag for bag in bags) for word in words], dtype=np.float64)

    def search(self, query: dict[str, Counter[str]], field: str, how: str) -> dict[int, float]:
        bags = {number: self.fields(*text)[field] for number, text in self.texts.items()}
        average = max(1.0, sum(bag.total() for bag in bags.values()) / max(1, len(bags)))
        scores: dict[int, float] = {}
        for word in query["words"]:
            having = [number for number, bag in bags.items() if bag[word]]
            weight = math.log(1 + (len(bags) - len(having) + 0.5) / (len(having) + 0.5))
            for number in having:
                count, length = bags[number][word], bags[number].total()
                if how == "bm25":
                    part = count * 2.2 / (count + 1.2 * (0.4 + 0.6 * length / average))
                else:
                    part = 1 / math.sqrt(3 + length)
                scores[number] = scores.get(number, 0.0) + weight * part
        return scores


@pytest.mark.slow
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    changes=changes, title=texts, body=texts, tail=st.sampled_from([8, 24, 768]), spared=st.sampled_from([1, 1 << 16])
)
def test_lexical_search_equals_the_reference(
    index: Index, monkeypatch: pytest.MonkeyPatch, changes: list[Any], title: str, body: str, tail: int, spared: int
) -> None:
    monkeypatch.setattr(postings, "SPARED", spared)
    monkeypatch.setattr(postings, "TAIL", tail)
    monkeypatch.setattr(postings, "CHUNK", 2 * tail)
    # Other examples' repositories are in the same database, and must make no difference.
    repositories = [Reference(index, next(_ids)) for _ in range(2)]
    ids = {id(one): one._id for one in repositories}
    for which, (kind, what) in changes:
        reference = repositories[which]
        repo_id = ids[id(reference)]
        if kind == "put":
            index.put(repo_id, [IndexedIssue(number, title, body) for number, title, body in what], embed=False)
            reference.texts |= {number: (title, body) for number, title, body in what}
        else:
            index.remove(repo_id, what)
            for number in what:
                reference.texts.pop(number, None)
    for reference in repositories:
        repo_id = ids[id(reference)]
        query = reference.fields(title, body)
        with index.view(repo_id) as view:
            assert view.count == len(reference.texts)
            known = view.look_up(index.analyse(repo_id, title, body))["words"]
            for field in ("title", "words"):
                weights = idf(view.count, reference.issues_with(known.words, field))
                for how, scoring in (("bm25", bm25(view.average_length(field))), ("shared", binary(3))):
                    (scores,) = view.search_all([Query(field, known.terms, weights, scoring)])
                    assert dict(zip(scores.numbers.tolist(), scores.scores.tolist(), strict=True)) == pytest.approx(
                        reference.search(query, field, how)
                    )


@given(st.lists(st.sampled_from([1.0, 2.0, 2.5, 3.0]) | st.floats(0.0, 9.0), max_size=300), st.integers(1, 30))
def test_the_best_are_the_best_and_older_first_among_equals(values: list[float], k: int) -> None:
    best = Scores(np.arange(len(values)), np.array(values)).best(k)
    assert best.numbers.tolist() == sorted(range(len(values)), key=lambda number: -values[number])[:k]
    assert best.scores.tolist() == sorted(values, reverse=True)[:k]
