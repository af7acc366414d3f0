"""What a process keeps of repositories is bounded, however many it is asked about."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from bot.index import Index, IndexedIssue, TextAnalyser
from bot.index.memory import Memories
from bot.index.postings import vocabulary
from bot.index.state import Version
from bot.matching import Matcher
from bot.model import RepoRef
from bot.store.tables.index import index_vocabulary
from tests.index.conftest import HashingModel

VERSION = Version(1, 1, 1, "", "", 0)


def grow(memories: Memories, repo_id: int, words: int) -> None:
    with memories.using(repo_id) as memory:
        memory.vocabulary.keep(VERSION, {number: number for number in range(words)})


def kept(memories: Memories) -> list[int]:
    return list(memories._kept)


def test_the_least_recently_used_are_forgotten_first() -> None:
    memories = Memories(most_bytes=3 * 20_000 + 3 * 200 * 10)
    for repo_id in (1, 2, 3):
        grow(memories, repo_id, 10)
    with memories.using(1):
        pass
    grow(memories, 4, 10)
    assert kept(memories) == [3, 1, 4]


def test_what_has_grown_makes_others_go_at_once_and_never_itself() -> None:
    memories = Memories(most_bytes=100_000)
    for repo_id in (1, 2, 3):
        grow(memories, repo_id, 10)
    grow(memories, 3, 1_000)
    assert kept(memories) == [3]
    with memories.using(3) as memory:
        assert memory.vocabulary.size == 200_000


def test_what_was_forgotten_counts_no_more() -> None:
    memories = Memories(most_bytes=50_000)
    for _ in range(5):
        grow(memories, 1, 100)
        memories.forget(1)
    grow(memories, 2, 10)
    grow(memories, 3, 10)
    assert kept(memories) == [2, 3]


def test_a_forgotten_one_that_is_still_used_is_not_counted() -> None:
    memories = Memories(most_bytes=50_000)
    with memories.using(1):
        memories.forget(1)
    grow(memories, 2, 10)
    grow(memories, 3, 10)
    assert kept(memories) == [2, 3]


def test_an_index_that_may_remember_next_to_nothing_answers_the_same(index: Index, model: HashingModel) -> None:
    forgetful = Index(index._engine, TextAnalyser(), model)
    forgetful._memories = Memories(most_bytes=1)
    for repo_id in (1, 2):
        issues = [IndexedIssue(n, f"crash of part{n % 7}", f"panic in {repo_id}", created_at=n) for n in range(1, 40)]
        index.put(repo_id, issues)
    asked = IndexedIssue(50, "crash of part3", "panic", created_at=50).issue(RepoRef("a", "b"), "panic")
    for repo_id in (1, 2, 1):
        found = []
        for one in (index, forgetful):
            with Matcher(one).looking(repo_id, asked) as look:
                found.append([(judged.number, judged.confidence) for judged in look.judge()])
        assert found[0] == found[1]
        assert len(found[0]) == 39
        assert kept(forgetful._memories) == [repo_id]


@pytest.mark.slow
def test_who_edits_an_issue_over_and_over_with_new_words_lets_no_array_grow(
    index: Index, model: HashingModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arrays are as long as the highest number of a term is high."""
    monkeypatch.setattr(vocabulary, "SPARED", 64)
    other = Index(index._engine, TextAnalyser(), model)
    index.put(1, [IndexedIssue(n, f"crash of part{n % 7}", f"panic in room{n}", created_at=n) for n in range(2, 40)])

    def found(one: Index, asked: str) -> dict[int, float]:
        issue = IndexedIssue(50, asked, "panic", created_at=50).issue(RepoRef("a", "b"), "panic")
        with Matcher(one).looking(1, issue) as look:
            return {judged.number: judged.confidence for judged in look.judge()}

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
