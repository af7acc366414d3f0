"""Asking about a backlog over the index, on both databases: what is kept, asked again, and left out (D8)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bot.quality.scanning.groups import ScanAnswer
from bot.quality.scanning.scan import MOST, BacklogMatcher, Scan
from bot.search.index import Index, IndexedIssue, TextAnalyser
from bot.search.matching import shipped_model
from bot.storage import Store
from tests.index.conftest import HashingModel

pytestmark = pytest.mark.slow

# Among so few issues a word in common makes a pair likely enough for the default.
SURE = 0.5
CRASH = "The log says: ERROR exporter could not write page_table: disk 7 is gone"


class Counted(BacklogMatcher):
    """Remembers what it was asked."""

    asked: list[int]

    def ask(self, repo_id: int, numbers: Sequence[int]) -> list[ScanAnswer]:
        self.asked = [*getattr(self, "asked", []), *numbers]
        return super().ask(repo_id, numbers)


def issue(number: int, title: str, body: str = "", **more: object) -> IndexedIssue:
    author, at = f"user{number}", 86_400.0 * number
    return IndexedIssue(number, title, body, author=author, created_at=at, updated_at=at)._replace(**more)  # type: ignore[arg-type]


@pytest.fixture
def store(index: Index, engine: object) -> Store:
    """Issues 2 and 5 report the same thing, and so does 6, which is closed."""
    index.put(
        1,
        [
            issue(1, "Map stays grey", "Only markers are shown, tile requests are answered with 403"),
            issue(2, "Exporting albums fails", CRASH, thumbs_up=2),
            issue(3, "Portrait videos lie on their side", "The player ignores the rotation of thumbnails"),
            issue(4, "Translations into Basque", "I could help with the strings of the web interface"),
            issue(5, "Exporting albums fails again", CRASH, comments=3),
            issue(6, "Exporting albums fails, as before", CRASH, state="closed", closed_at=1e6),
        ],
    )
    return Store(engine)  # type: ignore[arg-type]


def scan(store: Store, index: Index, **options: bool) -> tuple[Scan, Counted]:
    asker = Counted(index, shipped_model())
    return Scan(store, asker, 1, **options), asker


def run(scan: Scan) -> None:
    scan.begin()
    scan.ask(scan.missing())


def groups(scan: Scan, sure: float = SURE) -> list[list[int]]:
    return [[one.original.number, *(member.entry.number for member in one.members)] for one in scan.result(sure).groups]


def test_d8_open_issues_that_say_the_same_are_a_group(store: Store, index: Index) -> None:
    one, asker = scan(store, index)
    run(one)
    result = one.result(SURE)
    assert groups(one) == [[2, 5]]
    assert asker.asked == [1, 2, 3, 4, 5]
    assert (result.issues, result.closable) == (5, 1)
    (group,) = result.groups
    assert (group.thumbs_up, group.comments) == (2, 3)
    assert str(group.members[0].reasons[0]).startswith("Same error text: “The log says: ERROR exporter could not write")


def test_d8_of_more_copies_than_an_answer_holds_none_is_left_out(store: Store, index: Index) -> None:
    text = f"{CRASH}. It happens with every album of more than forty pictures, and never with a smaller one"
    copies = [issue(number, "Albums vanish", text, created_at=8e6 + number) for number in range(100, 100 + 2 * MOST)]
    index.put(1, copies)
    one, _ = scan(store, index)
    run(one)
    assert {number for group in groups(one, 0.2) for number in group} >= {copy.number for copy in copies}


def test_d8_closed_duplicates_have_been_dealt_with(store: Store, index: Index) -> None:
    index.put(1, [issue(6, "Exporting albums fails, as before", CRASH, state="closed", duplicate_of=2, updated_at=1e7)])
    index.put(1, [issue(7, "Exporting albums fails, too", CRASH, state="closed", state_reason="duplicate")])
    one, asker = scan(store, index, closed=True)
    run(one)
    assert groups(one) == [[2, 5]]
    assert not {6, 7} & set(asker.asked)


def test_d8_a_scan_that_is_stopped_goes_on_where_it_was(store: Store, index: Index) -> None:
    one, _ = scan(store, index)
    one.begin()
    one.ask(one.missing(limit=3))
    again, asker = scan(store, index)
    run(again)
    assert asker.asked == [4, 5]
    assert groups(again) == [[2, 5]]


def test_d8_only_what_changed_is_asked_again(store: Store, index: Index) -> None:
    run(scan(store, index)[0])
    index.put(1, [issue(4, "Translations into Breton", "I could help with the strings", updated_at=1e7)])
    # A vote changes no text.
    index.put(1, [issue(3, "Portrait videos lie on their side", "The player ignores the rotation of thumbnails")])
    one, asker = scan(store, index)
    run(one)
    assert asker.asked[0] == 4
    assert not {1, 2, 3} & set(asker.asked)


def test_d8_who_was_alike_is_asked_again_when_the_other_changes(store: Store, index: Index) -> None:
    run(scan(store, index)[0])
    index.put(1, [issue(2, "Something else altogether", "It was a mistake of mine", updated_at=1e7)])
    one, asker = scan(store, index)
    run(one)
    assert {2, 5} <= set(asker.asked)
    assert 1 not in asker.asked
    assert groups(one) == []


def test_d8_who_was_asked_about_without_vectors_is_asked_again_once_they_are_there(store: Store, index: Index) -> None:
    """As after a time in which the model's endpoint did not answer."""
    index.put(1, [issue(7, "Exporting albums is broken", CRASH)], embed=False)
    index.put(1, [issue(8, "Exporting albums is broken, too", CRASH)])
    run(scan(store, index)[0])
    assert index.embed_missing(1) == [7]
    one, asker = scan(store, index)
    run(one)
    assert asker.asked == [7, 8], "what was found for 8 was judged by a 7 without vectors"
    run(one)
    assert asker.asked == [7, 8]


def test_d8_another_model_asks_everything_again(store: Store, index: Index, other_model: HashingModel) -> None:
    run(scan(store, index)[0])
    other = Index(store.engine, TextAnalyser(), other_model)
    while other.embed_missing(1):
        pass
    one, asker = scan(store, other)
    run(one)
    assert asker.asked == [1, 2, 3, 4, 5]


def test_d8_no_model_is_asked_for_vectors_that_are_there(store: Store, index: Index, model: HashingModel) -> None:
    before = model.texts
    run(scan(store, index)[0])
    assert model.texts == before


def test_c6a_no_answer_is_kept_for_an_issue_that_went_while_it_was_asked_about(store: Store, index: Index) -> None:
    one, asker = scan(store, index)
    answers = asker.ask(1, [2, 5])
    index.remove(1, [5])
    store.forget_issue(1, 5)
    one.put(answers)
    assert [answer.number for answer in one.answers()] == [2]
    store.forget(1)
    one.put(answers)
    assert [*one.answers()] == []


def test_c6a_answers_go_with_the_repository_and_with_the_issue(store: Store, index: Index) -> None:
    one, _ = scan(store, index)
    run(one)
    store.forget_issue(1, 2)
    index.remove(1, [2])
    assert groups(one) == []
    store.forget(1)
    assert one.missing() == []
    assert one.result(SURE).issues == 0
