"""What a process remembers of single issues is never older than what the index says."""

from __future__ import annotations

import numpy as np
import sqlalchemy as sa

from bot.index import Index, IndexedIssue, Query, TextAnalyser, shared
from bot.index.memory import Recent
from bot.index.state import Version
from tests.index.conftest import HashingModel

REPO = 1


def version(sequence: int, issues: int = 1) -> Version:
    return Version(sequence, issues, 1, "{}", "", 0)


def made() -> Recent[str]:
    return Recent(10, len)


class TestRecent:
    def test_what_was_kept_is_known_in_the_same_version_only(self) -> None:
        recent = made()
        recent.keep(version(1), {1: "one", 2: "two"})
        assert recent.get(version(1), [1, 2, 3]) == {1: "one", 2: "two"}
        assert recent.get(version(2), [1, 2]) == {}
        assert recent.get(version(1, issues=2), [1, 2]) == {}

    def test_a_change_of_this_process_costs_what_it_changed(self) -> None:
        recent = made()
        recent.keep(version(1), {1: "one", 2: "two"})
        recent.follow(version(1), version(2), [2, 3])
        assert recent.get(version(2), [1, 2]) == {1: "one"}

    def test_a_change_that_follows_unknown_ones_is_not_followed(self) -> None:
        recent = made()
        recent.keep(version(1), {1: "one"})
        recent.follow(version(2), version(3), [])
        assert recent.get(version(3), [1]) == {}

    def test_another_version_begins_anew(self) -> None:
        recent = made()
        recent.keep(version(1), {1: "one"})
        recent.keep(version(2), {2: "two"})
        assert recent.get(version(2), [1, 2]) == {2: "two"}
        assert recent.size == 3

    def test_the_first_that_were_kept_make_room(self) -> None:
        recent = made()
        for number in range(1, 6):
            recent.keep(version(1), {number: "four"})
        assert recent.get(version(1), range(1, 6)) == {4: "four", 5: "four"}
        assert recent.size == 8
        recent.keep(version(1), {6: "longer than all"})
        assert recent.size == 0


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
    def test_a_word_that_was_given_up_and_came_back_has_its_new_number(self, index: Index) -> None:
        index.put(REPO, [one(1, "alpha"), one(2, "beta")])
        assert found(index, "alpha") == [1]
        index.put(REPO, [one(1, "gamma", 2)])
        assert found(index, "alpha") == []
        index.put(REPO, [one(3, "alpha")])
        assert found(index, "alpha") == [3]
        index.remove(REPO, [3])
        assert found(index, "alpha") == []

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
        return list(map(int, view.search_all([Query("title", terms, np.ones(len(terms)), shared())])[0].numbers))
