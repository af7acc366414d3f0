"""What the index promises, on SQLite and on PostgreSQL alike."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from bot.domain.entities import Actor, RepoRef
from bot.search.index import Analysis, Index, IndexedIssue, Query, Scores, TextAnalyser, View, bm25, idf, postings
from bot.search.matching import Matcher
from bot.storage import Store
from bot.storage.schema import metadata
from tests.index.conftest import HashingModel
from tests.matching.made import START, an_issue


def issue(number: int, title: str, body: str = "", **more: Any) -> IndexedIssue:
    return IndexedIssue(number, title, body, **more)


def rows(engine: sa.Engine, repo_id: int) -> dict[str, int]:
    with engine.connect() as connection:
        return {
            table.name: connection.execute(
                sa.select(sa.func.count()).select_from(table).where(table.c.repo_id == repo_id)
            ).scalar_one()
            for table in metadata.sorted_tables
            if table.info.get("index")
        }


def search(view: View, query: Query, **more: Any) -> Scores:
    return view.search_all([query], **more)[0]


def found(view: View, analysis: Analysis, field: str = "words", **more: Any) -> list[int]:
    known = view.look_up(analysis)[field]
    weights = idf(view.count, known.issues)
    best = search(view, Query(field, known.terms, weights, bm25(view.average_length(field))), **more).best(10)
    return [int(number) for number in best.numbers]


def ask(index: Index, text: str, field: str = "words", repo_id: int = 1, **more: Any) -> list[int]:
    with index.view(repo_id) as view:
        return found(view, index.analyse(repo_id, text, ""), field, **more)


def many(count: int, first: int = 1) -> list[IndexedIssue]:
    """Issues that share `common`, in fives a word, and have one word each to themselves."""
    return [issue(n, f"common group{n // 5}x own{n}x", f"body common {n * 7}") for n in range(first, first + count)]


class TestFinding:
    def test_what_does_not_fit_the_budget_is_left_out(self, index: Index) -> None:
        index.put(1, many(30))
        with index.view(1) as view:
            known = view.look_up(index.analyse(1, "common own7x group2x", ""))["words"]
            weights = idf(view.count, known.issues)
            scores = search(view, Query("words", known.terms, weights, bm25(1.0)), budget=10)
            assert scores.numbers.tolist() == [7, 10, 11, 12, 13, 14]

    def test_text_that_a_form_supplies_is_no_evidence(self, index: Index) -> None:
        form = "Please describe the kangaroo"
        index.put(1, [issue(n, f"number{n}x", f"{form}\nown{n}x") for n in range(1, 9)])
        assert ask(index, "kangaroo") == [1, 2, 3, 4, 5], "the first five could not know"
        assert "kangaroo" not in index.analyse(1, "", form).terms["words"]

    @pytest.mark.slow
    def test_an_empty_form_says_nothing_though_most_people_delete_some_of_its_lines(self, index: Index) -> None:
        form, hint = "Please describe the kangaroo", "A picture of its pouch helps"
        index.put(1, [issue(n, f"plain{n}x", f"own{n}x") for n in range(1, 2_001)])
        index.put(1, [issue(n, f"number{n}x", f"{form}\nown{n}x") for n in range(2_001, 2_010)])
        index.put(1, [issue(n, f"number{n}x", f"{form}\n{hint}\nown{n}x") for n in range(2_010, 2_015)])
        empty, answered = (index.analyse(1, "", f"{form}\n\n{hint}{more}").terms["words"] for more in ("", "\nIt hops"))
        assert not empty
        assert {"pouch", "hop"} <= answered.keys() and "kangaroo" not in answered

    @pytest.mark.parametrize("at_once", [True, False])
    def test_what_is_sent_again_and_again_word_for_word_is_no_form(self, index: Index, at_once: bool) -> None:
        rows = [issue(n, "One title", "The kangaroo\nhas lost its pouch") for n in range(1, 10)]
        for part in [rows] if at_once else [[row] for row in rows]:
            index.put(1, part)
        assert set(ask(index, "kangaroo")) == set(range(1, 10))
        assert {"kangaroo", "pouch"} <= index.analyse(1, "One  title", "the kangaroo\nhas lost its pouch").terms[
            "words"
        ].keys()
        other = index.analyse(1, "Another title", "The kangaroo\nhas lost its pouch").terms["words"]
        assert not {"kangaroo", "pouch"} & other.keys(), "under another title it may be a form's"

    def test_what_a_form_supplies_is_the_same_whether_issues_come_one_by_one_or_at_once(
        self, index: Index, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """And it stays so however many come: a line that is left out recurs all the same."""
        # As in a repository of thousands of issues, where more than five must have a line.
        monkeypatch.setattr("bot.search.index.analysis.SUPPLIED_SHARE", 0.3)
        rows = [issue(n, f"number{n}x", f"Please describe the kangaroo\nown{n}x") for n in range(1, 25)]
        index.put(1, rows)
        for row in rows:
            index.put(2, [row])
        assert set(ask(index, "kangaroo")) == set(ask(index, "kangaroo", repo_id=2)) == {1, 2, 3, 4, 5}

    def test_an_edited_issue_is_read_as_if_it_came_only_now(self, index: Index) -> None:
        """The lines that it had before are not another issue's."""
        rows = [issue(n, f"number{n}x", f"The kangaroo has lost its pouch\nown{n}x") for n in range(1, 6)]
        index.put(1, rows)
        for times in range(1, 4):
            index.put(1, [issue(5, "number5x", f"{rows[4].body}\nedited {times} times")])
        assert set(ask(index, "kangaroo")) == {1, 2, 3, 4, 5}
        assert "kangaroo" in index.analyse(1, "number5x", rows[4].body, 5).terms["words"]
        assert "kangaroo" not in index.analyse(1, "number6x", rows[4].body, 6).terms["words"]

    def test_frequencies_are_the_same_for_who_watched_the_index_grow_and_who_has_just_read_it(
        self, engine: sa.Engine, index: Index
    ) -> None:
        """Of words that titles never have, too: counted as if they had them, they are searched for in vain."""
        fields = ("title", "words", "codes", "messages")
        for first in (1, 40, 41):
            index.put(1, [*many(12, first), issue(200 + first, f"word{first}x", f"panic: `body{first}_only` is lost")])
            with index.view(1) as view:
                watched = {field: view.frequencies(field) for field in fields}
        index.remove(1, [201])
        with index.view(1) as view, Index(engine, TextAnalyser()).view(1) as anew:
            known = anew.look_up(index.analyse(1, "body40_only word1x common", ""))["words"].terms
            assert {1, 2, 25} == set(anew.frequencies("title")[known[known > 0]].tolist())
            for field in fields:
                watched[field], read = view.frequencies(field), anew.frequencies(field)
                assert watched[field][: len(read)].tolist() == read.tolist(), field

    def test_who_still_sees_an_earlier_state_leaves_no_counts_of_it_behind(
        self, engine: sa.Engine, index: Index
    ) -> None:
        index.put(1, many(12))
        with index.view(1) as before:
            index.put(1, [issue(50, "group1x fresh50x", "common")])
            with index.view(1) as after, Index(engine, TextAnalyser()).view(1) as anew:
                after.frequencies("words")
                before.frequencies("title")
                for field in ("title", "words"):
                    assert after.frequencies(field).tolist() == anew.frequencies(field).tolist(), field

    @pytest.mark.slow
    def test_an_issue_that_is_edited_again_and_again_or_goes_makes_no_word_frequent(
        self, engine: sa.Engine, index: Index
    ) -> None:
        index.put(1, many(40))
        other = Index(engine, TextAnalyser())
        words = "common group1x own8x own45x umbrella first second"

        def agree(reader: Index, asked: str) -> None:
            with reader.view(1) as view:
                known = view.look_up(reader.analyse(1, asked, ""))["words"]
                there = known.terms > 0
                assert view.frequencies("words")[known.terms[there]].tolist() == known.issues[there].tolist()

        for reader in (index, other):
            agree(reader, words)
        for at in range(1, 30):
            text = f"umbrella common own8x {'first' if at % 2 else 'second'}"
            index.put(1, [issue(900, text, f"edit{at}x", updated_at=float(at))])
            agree(index, words)
        # Elsewhere too, but for what the issue no longer says.
        agree(other, "common group1x own8x umbrella first")
        index.remove(1, [900, 8])
        agree(index, words)


class TestIssues:
    def test_what_another_process_has_filled_anew_is_read_anew_though_the_clock_was_ahead_before(
        self, engine: sa.Engine, index: Index, model: HashingModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Two machines need not agree on the time."""
        really = time.time_ns
        with monkeypatch.context() as ahead:
            ahead.setattr(time, "time_ns", lambda: really() + 600 * 10**9)
            index.put(1, [IndexedIssue(number, "alpha beta", "gamma") for number in range(1, 4)])
        matcher, target = Matcher(index), IndexedIssue(50, "delta", "epsilon").issue(RepoRef("acme", "app"), "")

        def by_vectors() -> tuple[int, ...]:
            with matcher.session(1, target) as session:
                session.judge()
                return session.found["vectors"]

        assert set(by_vectors()) == {1, 2, 3}
        other = Index(engine, TextAnalyser(), model)
        other.forget(1)
        other.put(1, [IndexedIssue(number, "delta zeta", "epsilon") for number in range(7, 9)])
        assert set(by_vectors()) == {7, 8}
        with index.view(1) as view:
            known = view.look_up(index.analyse(1, "delta zeta", ""))["words"]
            assert view.frequencies("words")[known.terms].tolist() == known.issues.tolist() == [2, 2]

    def test_an_issue_comes_back_as_it_went_in(self, index: Index) -> None:
        one = replace(
            an_issue(5, "Crash ✓"),
            state="closed",
            state_reason="completed",
            author=Actor("ann[bot]", is_bot=True),
            labels=("bug", "näh"),
            closed_at=START,
            url="https://github.com/acme/app/issues/5",
            comments=3,
            thumbs_up=2,
            thumbs_down=1,
        )
        index.put(1, [IndexedIssue.of(one, duplicate_of=2)])
        with index.view(1) as view:
            stored = view.issues([5, 6])
            assert list(stored) == [5]
            assert stored[5].duplicate_of == 2
            assert stored[5].issue(one.repo, one.url) == one

    def test_duplicates_of_unknown_issues_count_for_none(self, index: Index) -> None:
        """An earlier build stored 0 for an original that it did not know."""
        originals = {1: 7, 2: 7, 3: 0, 4: 0, 5: 0, 6: None}
        index.put(1, [issue(number, "one")._replace(duplicate_of=one) for number, one in originals.items()])
        with index.view(1) as view:
            assert view.frequent_originals(2, 9) == [7]

    def test_what_an_author_wrote_before_is_counted(self, index: Index) -> None:
        wrote = {1: "ann", 2: "bob", 3: "ann", 5: "ann", 6: "o'%?"}
        index.put(1, [issue(number, "one")._replace(author=author) for number, author in wrote.items()])
        index.put(2, [issue(1, "one")._replace(author="bob")])
        with index.view(1) as view:
            told = [view.reported(author, 5) for author in ("ann", "bob", "o'%?", "Ann", "", "nul\0")]
            assert (told, view.reported("o'%?", 7)) == ([2, 1, 0, 0, 0, 0], 1)

    def test_what_no_database_can_hold_is_replaced(self, index: Index) -> None:
        index.put(1, [issue(1, "a\0b", "half \ud83d pair " + "x" * 9_000, author="\ud83d", labels=("\0",))])
        with index.view(1) as view:
            title, body = view.texts([1])[1]
            assert title == "a\ufffdb"
            assert len(body) == 8_000

    def test_an_older_state_does_not_overwrite_a_newer_one(self, index: Index) -> None:
        index.put(1, [issue(1, "new words", state="closed", updated_at=20.0)])
        index.put(1, [issue(1, "old words", state="open", updated_at=10.0)])
        assert ask(index, "old") == []
        with index.view(1) as view:
            assert view.issues([1])[1].state == "closed"

    def test_an_issue_that_says_the_same_is_not_read_again(self, index: Index, model: Any) -> None:
        index.put(1, many(3))
        embedded = model.texts
        index.put(1, [one._replace(state="closed") for one in many(3)])
        assert model.texts == embedded
        with index.view(1) as view:
            assert {one.state for one in view.issues([1, 2, 3]).values()} == {"closed"}


class TestChanging:
    @pytest.fixture(autouse=True)
    def short_tails(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """So that a handful of issues fills chunks."""
        monkeypatch.setattr(postings, "TAIL", 16)
        monkeypatch.setattr(postings, "CHUNK", 40)

    def test_removing_takes_back_everything(self, engine: sa.Engine, index: Index) -> None:
        index.put(1, many(12))
        before = rows(engine, 1)
        index.put(1, many(30, first=20))
        index.remove(1, range(20, 50))
        index.remove(1, [99])
        assert rows(engine, 1) == before
        index.remove(1, range(1, 13))
        assert {name: count for name, count in rows(engine, 1).items() if count} == {"index_states": 1}
        assert index.count(1) == 0
        assert ask(index, "common") == []

    def test_c6a_forget_erases_one_repository(self, engine: sa.Engine, index: Index) -> None:
        for repo_id in (1, 2, 3):
            index.put(repo_id, many(12))
        index.forget(1)
        Store(engine).forget(3)
        assert not any(rows(engine, 1).values())
        assert not any(rows(engine, 3).values())
        assert ask(index, "own7x", repo_id=2) == [7]
        index.put(1, many(3))
        assert ask(index, "common", repo_id=1) == [1, 2, 3]

    def test_writers_at_once_lose_nothing(self, engine: sa.Engine, index: Index) -> None:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda n: index.put(1, many(3, first=n)), range(1, 25, 3)))
        assert index.count(1) == 24
        alone = Index(engine, TextAnalyser())
        alone.put(2, many(24), embed=False)
        for text in ("common", "group2x own7x"):
            assert ask(index, text) == ask(alone, text, repo_id=2)
