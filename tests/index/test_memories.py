"""What a process keeps of repositories is bounded, however many it is asked about."""

from __future__ import annotations

import numpy as np
import pytest
import sqlalchemy as sa

from bot.domain.entities import RepoRef
from bot.search.index import Index, IndexedIssue, Query, TextAnalyser, binary, postings
from bot.search.index.cache import IndexCache
from bot.search.matching import Matcher
from bot.storage.schema import index_vocabulary
from tests.index.conftest import HashingModel


def kept(memories: IndexCache) -> list[int]:
    return list(memories._repositories)


def test_an_index_that_may_remember_next_to_nothing_answers_the_same(index: Index, model: HashingModel) -> None:
    forgetful = Index(index._engine, TextAnalyser(), model)
    forgetful._caches = IndexCache(most_bytes=1)
    for repo_id in (1, 2):
        issues = [IndexedIssue(n, f"crash of part{n % 7}", f"panic in {repo_id}", created_at=n) for n in range(1, 40)]
        index.put(repo_id, issues)
    asked = IndexedIssue(50, "crash of part3", "panic", created_at=50).issue(RepoRef("a", "b"), "panic")
    for repo_id in (1, 2, 1):
        found = []
        for one in (index, forgetful):
            with Matcher(one).session(repo_id, asked) as session:
                found.append([(judged.number, judged.confidence) for judged in session.judge()])
        assert found[0] == found[1]
        assert len(found[0]) == 39
        assert kept(forgetful._caches) == [repo_id]


@pytest.mark.slow
def test_who_edits_an_issue_over_and_over_with_new_words_lets_no_array_grow(
    index: Index, model: HashingModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arrays are as long as the highest number of a term is high."""
    monkeypatch.setattr(postings, "SPARED", 64)
    other = Index(index._engine, TextAnalyser(), model)
    index.put(1, [IndexedIssue(n, f"crash of part{n % 7}", f"panic in room{n}", created_at=n) for n in range(2, 40)])

    def found(one: Index, asked: str) -> dict[int, float]:
        issue = IndexedIssue(50, asked, "panic", created_at=50).issue(RepoRef("a", "b"), "panic")
        with Matcher(one).session(1, issue) as session:
            return {judged.number: judged.confidence for judged in session.judge()}

    for edit in range(20):
        words = " ".join(f"word{edit}x{n}" for n in range(30))
        index.put(1, [IndexedIssue(1, f"crash of new{edit}", words, updated_at=edit + 1.0)])
        asked = f"crash of part3 and new{edit} and word{edit}x7"
        fresh = Index(index._engine, TextAnalyser(), model)
        # Vectors are compared in the database at first, and in memory later.
        assert found(index, asked) == pytest.approx(found(fresh, asked), abs=1e-6)
        # Another process counts what an issue has no more for some time, whatever numbers are given out.
        assert found(other, asked) == pytest.approx(found(fresh, asked), abs=1e-3)
        with index.view(1) as view:
            highest = view.state.next_term
    with index._engine.connect() as connection:
        terms = connection.execute(sa.select(sa.func.count()).select_from(index_vocabulary)).scalar_one()
    assert highest < 4 * terms


REPO = 1


def one(number: int, title: str, at: float = 1.0, state: str = "open") -> IndexedIssue:
    return IndexedIssue(number, title, state="closed" if state == "closed" else "open", created_at=1, updated_at=at)


def seen(index: Index, numbers: list[int]) -> list[tuple[str, str, int]]:
    """Of each issue that is there its title, its state and how many terms its title has."""
    with index.view(REPO) as view:
        issues = view.issues(numbers)
        there = [number for number in numbers if number in issues]
        sizes = np.diff(view.terms(np.array(there), "title")[0].starts).tolist()
        return [(issues[number].title, issues[number].state, size) for number, size in zip(there, sizes, strict=True)]


class TestAnIndex:
    def test_finds_see_what_this_process_has_changed(self, index: Index) -> None:
        index.put(REPO, [one(1, "alpha"), one(2, "beta")])
        assert seen(index, [1, 2]) == [("alpha", "open", 1), ("beta", "open", 1)]
        index.put(REPO, [one(1, "alpha", 2, "closed")])
        assert seen(index, [1, 2]) == [("alpha", "closed", 1), ("beta", "open", 1)]
        index.put(REPO, [one(1, "alpha gamma", 3)])
        index.embed_missing(REPO)
        assert seen(index, [1, 2]) == [("alpha gamma", "open", 2), ("beta", "open", 1)]
        index.remove(REPO, [2])
        assert seen(index, [1, 2]) == [("alpha gamma", "open", 2)]

    def test_a_find_sees_one_moment_whoever_writes_meanwhile(self, engine: sa.Engine, index: Index) -> None:
        index.put(REPO, [one(1, "alpha")])
        with index.view(REPO) as view:
            Index(engine, TextAnalyser()).put(REPO, [one(1, "beta", 2.0), one(2, "gamma")])
            assert view.count == 1
            assert [issue.title for issue in view.issues([1, 2]).values()] == ["alpha"]
        assert seen(index, [1, 2]) == [("beta", "open", 1), ("gamma", "open", 1)]

    def test_finds_see_what_another_process_has_changed(self, engine: sa.Engine, model: HashingModel) -> None:
        here, there = Index(engine, TextAnalyser(), model), Index(engine, TextAnalyser(), model)
        here.put(REPO, [one(1, "alpha"), one(2, "beta")])
        assert len(seen(here, [1, 2])) == 2
        there.put(REPO, [one(1, "alpha", 2, "closed")])
        # This change follows one that this process has not heard of.
        here.put(REPO, [one(3, "delta")])
        assert seen(here, [1, 2, 3]) == [("alpha", "closed", 1), ("beta", "open", 1), ("delta", "open", 1)]

    def test_c6a_an_index_made_anew_by_another_process_is_read_anew(
        self, engine: sa.Engine, model: HashingModel
    ) -> None:
        here, there = Index(engine, TextAnalyser(), model), Index(engine, TextAnalyser(), model)
        here.put(REPO, [one(1, "alpha")])
        assert seen(here, [1]) == [("alpha", "open", 1)]
        there.forget(REPO)
        # It counts as many issues and words as the one before.
        there.put(REPO, [one(1, "beta")])
        assert seen(here, [1]) == [("beta", "open", 1)]


class TestWords:
    def test_lists_of_words_are_read_anew_after_any_change(self, engine: sa.Engine, index: Index) -> None:
        index.put(REPO, [one(number, "alpha") for number in range(1, 150)])
        assert len(found(index, "alpha")) == 149
        index.put(REPO, [one(150, "alpha")])
        assert len(found(index, "alpha")) == 150
        elsewhere = Index(engine, TextAnalyser(), HashingModel())
        elsewhere.put(REPO, [one(number, "alpha") for number in range(151, 300)])
        assert len(found(index, "alpha")) == 299
        elsewhere.remove(REPO, [7])
        assert len(found(index, "alpha")) == 298


def found(index: Index, word: str) -> list[int]:
    with index.view(REPO) as view:
        terms = view.look_up(index.analyse(REPO, word, ""))["title"].terms
        return list(map(int, view.search_all([Query("title", terms, np.ones(len(terms)), binary())])[0].numbers))
