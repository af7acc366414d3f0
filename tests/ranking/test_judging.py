"""From hits to an order: what is sorted by what, and what an unknown author means."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.model import Actor, Issue, RepoRef
from bot.ranking.judging import Judged, judge
from bot.ranking.model import shipped_model
from bot.ranking.rarity import CountedWords

START = datetime(2024, 1, 1, tzinfo=UTC)
REPORT = "The export dialog writes an empty file when the project lies on a network share and the quota is exceeded"


def issue(number: int, title: str, body: str = "", author: str = "ann") -> Issue:
    moment = START + timedelta(days=number)
    return Issue(
        repo=RepoRef("acme", "app"),
        id=number,
        node_id=f"I_{number}",
        number=number,
        title=title,
        body=body,
        state="open",
        state_reason=None,
        author=Actor(author),
        labels=(),
        created_at=moment,
        updated_at=moment,
        closed_at=None,
        url=f"https://github.com/acme/app/issues/{number}",
    )


def judged(target: Issue, *candidates: Issue) -> list[Judged]:
    return judge(target, candidates, CountedWords(), shipped_model())[0]


def test_the_whole_text_decides_and_not_the_title_alone() -> None:
    target = issue(9, "Export is broken", REPORT)
    title, text = issue(1, "Import is broken", "Nothing is read"), issue(2, "Empty export on a share", REPORT)
    assert [one.issue.number for one in judged(target, title, text)] == [2, 1]


def test_most_likely_first() -> None:
    others = [issue(n, f"Export {n}", REPORT[: 20 * n]) for n in range(1, 6)]
    confidences = [one.confidence for one in judged(issue(9, "Export 5", REPORT), *others)]
    assert confidences == sorted(confidences, reverse=True)
    assert all(0 <= one <= 1 for one in confidences)


def test_authors_that_nobody_knows_are_not_one_person() -> None:
    target, copy = issue(9, "Export is broken", REPORT, "ghost"), issue(8, "Export is broken", REPORT, "ghost")
    (unknown,) = judged(target, copy)
    (other,) = judged(target, issue(8, "Export is broken", REPORT, "bob"))
    assert unknown.confidence == other.confidence >= 0.25
    (same,) = judged(issue(9, "Export is broken", REPORT, "ann"), issue(8, "Export is broken", REPORT, "ann"))
    assert same.confidence < unknown.confidence


def test_among_many_issues_a_copy_counts_where_two_people_are_known_to_have_written_it() -> None:
    """Where nobody knows, it may be one person's series, or what a form puts into every issue."""
    late = 30_000

    def confidence(author: str, other: str) -> float:
        (one,) = judged(issue(late, "Export is broken", REPORT, author), issue(8, "Export is broken", REPORT, other))
        return one.confidence

    assert confidence("ann", "bob") == 0.25
    assert max(confidence("ghost", "bob"), confidence("ann", "ghost"), confidence("ann", "ann")) < 0.1


def test_a_number_behind_the_title_says_that_this_is_another_one_and_nothing_of_the_rest() -> None:
    target = issue(9, "Export is broken (2)", REPORT)
    numbered, copy = issue(1, "Export is broken", REPORT), issue(2, "Empty export on a share", REPORT, "bob")
    found = {one.issue.number: one.confidence for one in judged(target, numbered, copy)}
    assert found[1] <= 0.1
    assert found[2] >= 0.25


def test_who_says_next_to_nothing_does_not_hold_back_who_ranks_after_it() -> None:
    others = [issue(1, "Export", "", "bob"), issue(2, "Export of a project", REPORT[: len(REPORT) // 2], "cy")]
    alone = judged(issue(9, "Export", REPORT), others[1])[0].confidence
    both = {one.issue.number: one.confidence for one in judged(issue(9, "Export", REPORT), *others)}
    assert both[1] <= 0.1 < min(alone, both[2])


def test_nothing_found_is_nothing_judged() -> None:
    assert judged(issue(9, "Export is broken")) == []


def test_the_size_of_a_repository_is_that_of_its_issues_and_not_the_number_of_pull_requests_too() -> None:
    others = [issue(n, f"Export {n}", REPORT[: 20 * n], f"user{n}") for n in range(1, 3)]

    def surest(number: int, issues: int | None = None) -> float:
        # As many days as ever after the others.
        target = replace(issue(9, "Export is empty", REPORT, "zoe"), number=number)
        return judge(target, others, CountedWords(), shipped_model(), issues)[0][0].confidence

    assert surest(10_000) != surest(301)
    assert surest(10_000, 300) == surest(301)
    assert surest(301, 10_000) == surest(301)
