"""What an earlier version of the analyser has read is read again, and nothing else changes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np
import pytest
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.index import Analysis, Index, IndexedIssue, TextAnalyser
from bot.index.analysis.protocol import MOST_LINES, counted, whole
from bot.index.analysis.supplied import SUPPLIED_ISSUES, supplied_before
from bot.store.database.engine import write
from bot.store.tables.index import index_lists, index_states, index_vocabulary, indexed_terms
from tests.index.conftest import HashingModel

FORM = "Please describe the kangaroo"


class Earlier(TextAnalyser):
    """Knows no error messages."""

    version = TextAnalyser.version - 1

    def read(self, title: str, body: str, lines: Sequence[str], supplied: Collection[str]) -> Analysis:
        read = super().read(title, body, lines, supplied)
        return replace(read, terms={**read.terms, "messages": {}})


class First(TextAnalyser):
    """The first version, which did not count the lines that it left out."""

    version = 1
    fields = TextAnalyser.fields[:-1]
    supplied = ""

    def read(self, title: str, body: str, lines: Sequence[str], supplied: Collection[str]) -> Analysis:
        terms = super().read(title, body, lines, supplied).terms
        return Analysis({field.name: terms[field.name] for field in self.fields})


class Meanwhile(TextAnalyser):
    """Has something happen once, while it reads."""

    def __init__(self, event: Callable[[], object]) -> None:
        self._events = [event]

    def read(self, title: str, body: str, lines: Sequence[str], supplied: Collection[str]) -> Analysis:
        while self._events:
            self._events.pop()()
        return super().read(title, body, lines, supplied)


def issues() -> list[IndexedIssue]:
    """Seven, of which two quote a message; the last two have left what the form supplied."""
    says = {3: "Error: could not store the pouch", 6: "Error: the pouch is full"}
    return [IndexedIssue(n, f"title{n}x", f"{FORM}\n{says.get(n, '')}\nown{n}x") for n in range(1, 8)]


@pytest.fixture
def earlier(engine: sa.Engine, model: HashingModel) -> Index:
    """The index of the version before, filled."""
    index = Index(engine, Earlier(), model)
    index.put(1, issues())
    return index


def contents(engine: sa.Engine, repo_id: int) -> tuple[dict[int, dict[str, int]], dict[str, int], object]:
    """Each issue's terms by their names in the database, in how many issues each is, and the lengths."""
    with engine.connect() as connection:
        vocabulary, lists, states = (
            list(connection.execute(sa.select(table).where(table.c.repo_id == repo_id)).mappings())
            for table in (index_vocabulary, index_lists, index_states)
        )
    index = Index(engine, TextAnalyser())
    names = {row["term"]: row["hash"] for row in vocabulary}
    with index.view(repo_id) as view:
        numbers = np.array(sorted(view.issues(range(1, 20))), dtype=np.int64)
        read = {
            (int(number), field.name): view.terms(np.array([number]), field.name)[0]
            for number in numbers
            for field in TextAnalyser.fields
        }
    terms: dict[int, dict[str, int]] = {number: {} for number, _ in read}
    for (number, name), bag in read.items():
        for term, count in zip(bag.terms.tolist(), bag.counts.tolist(), strict=True):
            terms[number][f"{name} {names[term]}"] = count
    fields = {f"{row['list'] >> 32} {names[row['list'] & 0xFFFFFFFF]}": row["issues"] for row in lists}
    return terms, fields, [(row["issues"], row["lengths"]) for row in states]


def replace_text(one: IndexedIssue) -> IndexedIssue:
    return one._replace(body=f"{one.body}\nand more", updated_at=9.0)


def changes(engine: sa.Engine) -> dict[int, int]:
    with engine.connect() as connection:
        return {row.number: row.changed for row in connection.execute(sa.select(indexed_terms))}


def read_all(index: Index, limit: int = 2) -> list[int]:
    """In steps; how many each of them read."""
    steps: list[int] = []
    while step := index.read_again(1, limit):
        steps.append(step)
    return steps


def test_the_index_becomes_what_the_present_version_would_have_made(
    engine: sa.Engine, index: Index, earlier: Index
) -> None:
    index.put(2, issues())
    assert contents(engine, 1) != contents(engine, 2)
    assert read_all(index) == [2, 2, 2, 1]
    assert contents(engine, 1) == contents(engine, 2)


def test_an_index_that_did_not_count_what_forms_supply_becomes_one_that_does(engine: sa.Engine, index: Index) -> None:
    Index(engine, First()).put(1, issues())
    index.put(2, issues())
    terms, lists, _ = contents(engine, 1)
    assert not any(name.startswith("supplied") for name in terms[7])
    assert (terms, lists) != contents(engine, 2)[:2]
    read_all(index)
    terms, lists, _ = contents(engine, 1)
    assert (terms, lists) == contents(engine, 2)[:2]
    assert any(name.startswith("supplied") for name in terms[7])


def test_only_what_reads_otherwise_is_written_and_embedded_anew(
    engine: sa.Engine, index: Index, earlier: Index, model: HashingModel
) -> None:
    before, texts = changes(engine), model.texts
    read_all(index)
    after = changes(engine)
    assert {number for number in after if after[number] != before[number]} == {3, 6}
    assert sorted(index.missing_vectors(1)) == [3, 6]
    assert (index.embed_missing(1), index.embed_missing(1)) == ([6, 3], [])
    assert (index.vector_count(1), model.texts) == (7, texts + 4), "title and text of each"


def test_it_is_done_once(engine: sa.Engine, index: Index, earlier: Index) -> None:
    read_all(index)
    with engine.connect() as connection:
        before = connection.execute(sa.select(index_states.c.sequence)).scalar_one()
    assert (read_all(index), index.read_again(9, 2)) == ([], 0)
    with engine.connect() as connection:
        assert connection.execute(sa.select(index_states.c.sequence)).scalar_one() == before


def test_what_the_present_version_has_read_is_not_read_again(index: Index) -> None:
    index.put(1, issues())
    assert read_all(index) == []


def test_an_index_from_before_versions_were_noted_is_read_again(engine: sa.Engine, index: Index) -> None:
    index.put(1, issues())
    with write(engine) as connection:
        connection.execute(sa.update(index_states).values(reading=None, read_to=None))
    assert read_all(index) == [2, 2, 2, 1]


def test_another_process_goes_on_where_one_has_died(engine: sa.Engine, index: Index, earlier: Index) -> None:
    index.read_again(1, 4)
    assert read_all(Index(engine, TextAnalyser()), 4) == [3]


def test_a_later_version_begins_anew_where_one_was_not_done(engine: sa.Engine, index: Index, earlier: Index) -> None:
    class Later(TextAnalyser):
        version = TextAnalyser.version + 1

    index.read_again(1, 4)
    assert read_all(Index(engine, Later()), 4) == [4, 3]


def test_who_still_has_the_earlier_version_takes_nothing_back(engine: sa.Engine, index: Index, earlier: Index) -> None:
    """Of the processes of a host that is being upgraded, or that goes back one release."""
    read_all(index)
    read = contents(engine, 1)
    assert read_all(earlier) == []
    assert contents(engine, 1) == read


def test_what_the_earlier_version_writes_beside_is_read_again(engine: sa.Engine, index: Index, earlier: Index) -> None:
    read_all(index)
    quoting = IndexedIssue(8, "title8x", "Error: the pouch is empty")
    earlier.put(1, [quoting, replace_text(issues()[5])])
    assert read_all(index) == [2, 1], "from the first of them on"
    index.put(2, [*issues(), quoting])
    index.put(2, [replace_text(issues()[5])])
    for number in (6, 8):
        assert contents(engine, 1)[0][number] == contents(engine, 2)[0][number]


def test_a_step_that_is_overtaken_counts_for_nothing(engine: sa.Engine, index: Index, earlier: Index) -> None:
    """While it reads, the earlier version erases the repository and fills it again."""

    def refill() -> None:
        index.forget(1)
        earlier.put(1, issues())

    assert index.read_again(1, 3) == 3
    overtaken = Index(engine, Meanwhile(refill))
    assert read_all(overtaken, 3) == [3, 3, 3, 1], "the first says only that there is more"
    index.put(2, issues())
    assert contents(engine, 1) == contents(engine, 2)


def test_of_two_at_once_neither_takes_the_other_back(engine: sa.Engine, index: Index, earlier: Index) -> None:
    slow = Index(engine, Meanwhile(lambda: read_all(index, 5)))
    assert slow.read_again(1, 2) == 0
    assert read_all(index) == []


def test_the_process_itself_knows_of_it_at_once(engine: sa.Engine, index: Index, model: HashingModel) -> None:
    """What it remembers of terms and of how frequent they are, of those too that issues have no more."""

    class Talkative(Earlier):
        def read(self, title: str, body: str, lines: Sequence[str], supplied: Collection[str]) -> Analysis:
            read = super().read(title, body, lines, supplied)
            more = {"numbat": 1} if "title3x" in title or "title6x" in title or title == "title7x" else {}
            return replace(read, terms={**read.terms, "words": {**read.terms["words"], **more}})

    Index(engine, Talkative(), model).put(1, [*issues(), IndexedIssue(8, "a numbat", "own8x")])

    def known(one: Index) -> tuple[list[int], list[int], list[int]]:
        with one.view(1) as view:
            terms = view.terms(np.arange(1, 8), "messages")[0].terms
            # What is beyond is spare.
            counts = [view.frequencies(field)[: max(terms, default=0) + 1] for field in ("words", "messages")]
            return terms.tolist(), counts[0].tolist(), counts[1].tolist()

    before = known(index)
    read_all(index)
    assert known(index) == known(Index(engine, TextAnalyser())) != before


def test_an_issue_that_is_edited_meanwhile_stays_as_it_was_edited(
    engine: sa.Engine, index: Index, earlier: Index
) -> None:
    edited = IndexedIssue(3, "wombat", "Error: no wombat is here", updated_at=9.0)
    overtaken = Index(engine, Meanwhile(lambda: index.put(1, [edited])))
    assert overtaken.read_again(1, 10) == 7
    index.put(2, [one for one in issues() if one.number != 3])
    index.put(2, [edited])
    assert contents(engine, 1)[0][3] == contents(engine, 2)[0][3]
    assert any(term.startswith("messages ") for term in contents(engine, 1)[0][6]), "the others are read again"


def test_c6a_a_repository_that_is_erased_meanwhile_stays_erased(
    engine: sa.Engine, index: Index, earlier: Index
) -> None:
    assert Index(engine, Meanwhile(lambda: index.forget(1))).read_again(1, 10) == 0
    with engine.connect() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(index_states)).scalar_one() == 0


def test_an_issue_that_is_deleted_meanwhile_stays_deleted(engine: sa.Engine, index: Index, earlier: Index) -> None:
    Index(engine, Meanwhile(lambda: index.remove(1, [3]))).read_again(1, 10)
    assert sorted(contents(engine, 1)[0]) == [1, 2, 4, 5, 6, 7]
    assert index.count(1) == 6


@pytest.mark.slow
def test_what_a_form_supplied_that_is_out_of_use_is_not_taken_for_somebodys_words(
    engine: sa.Engine, index: Index
) -> None:
    """It recurred often enough among few issues, and among so many it no longer does."""
    earlier = Index(engine, Earlier())
    earlier.put(1, [IndexedIssue(n, f"title{n}x", f"{FORM}\nown{n}x") for n in range(1, 10)])
    earlier.put(1, [IndexedIssue(n, f"plain{n}x", f"own{n}x") for n in range(10, 4_600)])
    assert "kangaroo" in index.analyse(1, "", f"{FORM}\nown").terms["words"]
    before = changes(engine)
    read_all(index, 1_000)
    assert changes(engine) == before

    embedded: list[str] = []

    class Recording(HashingModel):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            embedded.extend(texts)
            return super().embed(texts)

    changed = Index(engine, TextAnalyser(), Recording("another"))
    while changed.embed_missing(1, 1_000):
        pass
    assert len([text for text in embedded if "kangaroo" in text]) == SUPPLIED_ISSUES, "of those that could not know"


class TestSuppliedBefore:
    LINES = ("form", "", "mine", "form", "hint", "mine too")
    COPY = whole("title", LINES)

    def test_it_is_what_was_not_counted(self) -> None:
        assert supplied_before(self.LINES, self.COPY, {"mine", "mine too", self.COPY}) == {"form", "hint"}

    def test_of_an_empty_form_nothing_was_counted(self) -> None:
        assert supplied_before(self.LINES, self.COPY, set()) == {"form", "mine", "hint", "mine too"}

    def test_where_lines_were_others_then_it_is_not_known(self) -> None:
        assert supplied_before(self.LINES, self.COPY, {"", "mine"}) is None

    def test_of_more_lines_than_are_counted_it_is_not_known(self) -> None:
        lines = ["form", *(f"line {n}" for n in range(MOST_LINES + 50))]
        copy = whole("title", lines)
        assert supplied_before(lines, copy, {*counted(lines[1:]), copy}) is None
        assert supplied_before(lines, copy, {*counted(lines[2:MOST_LINES]), copy}) is not None
