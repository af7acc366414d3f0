"""Issue 2, item 9: the qualifiers of "Searching issues and pull requests"."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.simulator.search import SearchIndex
from tests.simulator.search.search_reference import found, index_of, issue, refusal

ISSUES = [
    issue(1, "one", "ping @bob/x and @ann-b", labels=("bug", "Help Wanted"), comment_count=3, reactions=7),
    issue(2, "two", state="closed", state_reason="not_planned", author="Bob", labels=("bug",), assignees=("Ann",)),
    issue(3, "three", state="closed", state_reason="completed", closed_at=datetime(2024, 3, 1, 12, tzinfo=UTC)),
    issue(4, "four", "cc @Bob.", author="robot[bot]", locked=True, milestone="bug fix", issue_type="Bug"),
    issue(5, "five", repo="acme/other", is_pull_request=True, merged_at=datetime(2024, 5, 1, tzinfo=UTC)),
    issue(6, "six", repo="Zoo/ape", is_pull_request=True, draft=True, comments=("x",), commenters=("Bob",)),
]


@pytest.fixture(scope="module")
def index() -> SearchIndex:
    index = index_of(ISSUES)
    index.put_repository("zoo/APE", private=True, archived=True)
    return index


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        ("is:issue", [1, 2, 3, 4]),
        ("type:issue", [1, 2, 3, 4]),
        ("is:pr", [5, 6]),
        ("is:pull-request", [5, 6]),
        ("-is:pr", [1, 2, 3, 4]),
        ("is:open is:issue", [1, 4]),
        ("state:closed", [2, 3]),
        ("is:locked", [4]),
        ("is:unlocked is:issue", [1, 2, 3]),
        ("is:merged", [5]),
        ("is:unmerged", [6]),
        ("is:draft", [6]),
        ("draft:false", [5]),
        ("is:private", [6]),
        ("is:public is:pr", [5]),
        ("archived:true", [6]),
        ("archived:false is:pr", [5]),
        ("is:nonsense", []),
        ("type:bug", [4]),
        ('reason:"not planned"', [2]),
        ("reason:completed", [3]),
        ("label:bug", [1, 2]),
        ('label:"help wanted"', [1]),
        ('label:"help wanted" label:bug', [1]),
        ('label:"help wanted","bug"', [1, 2]),
        ("label:bug,nothing", [1, 2]),
        ('-label:"help wanted",bug', [3, 4, 5, 6]),
        ("no:label is:issue", [3, 4]),
        ("no:milestone is:issue", [1, 2, 3]),
        ('milestone:"BUG fix"', [4]),
        ("milestone:*", [4]),
        ("no:assignee is:issue", [1, 3, 4]),
        ("assignee:ANN", [2]),
        ("assignee:*", [2]),
        ("author:bob", [2]),
        ("-author:ann", [2, 4]),
        ("author:app/robot", [4]),
        ("author:robot", []),
        ("author:@me", [2]),
        ("commenter:bob", [6]),
        ("mentions:bob", [1, 4]),
        ("mentions:ann", []),
        ("involves:bob", [1, 2, 4, 6]),
        ("repo:acme/APP", [1, 2, 3, 4]),
        ("(repo:acme/other OR repo:zoo/ape)", [5, 6]),
        ("repo:acme/other repo:zoo/ape", []),
        ("repo:acme/other org:acme", [5]),
        ("org:acme", [1, 2, 3, 4, 5]),
        ("user:zoo", [6]),
        ("-org:acme", [6]),
        ("-repo:acme/app", [5, 6]),
        ("comments:3", [1]),
        ("comments:>3", []),
        ("comments:abc", []),
        ("reactions:>=7", [1]),
        ("interactions:8..*", [1]),
        ("created:2024-01-02", [1]),
        ("created:>2024-01-05", [5, 6]),
        ("created:2024-01-03..2024-01-04", [2, 3]),
        ("updated:<=2024-01-02", [1]),
        ("closed:2024-03-01", [3]),
        ("-closed:>2024-01-01", [1, 2, 4, 5, 6]),
        ("merged:>=2024-05-01", [5]),
        ("label:bug two", [2]),
        ("label:bug OR author:app/robot", [1, 2, 4]),
    ],
)
def test_qualifiers(index: SearchIndex, q: str, expected: list[int]) -> None:
    assert found(index, q, viewer="bob") == expected


def test_a_scope_in_sight_makes_up_for_one_that_is_not(index: SearchIndex) -> None:
    assert found(index, "repo:acme/app OR repo:zoo/ape", visible=lambda repo: repo == "zoo/ape") == [6]


def test_what_is_not_visible_is_not_found(index: SearchIndex) -> None:
    assert found(index, "two OR five OR six", visible=lambda repo: repo.startswith("acme/")) == [2, 5]


@pytest.mark.parametrize("q", ["repo:acme/none is:issue", "org:none is:issue", "repo:zoo/ape is:issue x"])
def test_scopes_out_of_sight_are_refused(index: SearchIndex, q: str) -> None:
    error = refusal(index, q, visible=lambda repo: repo.startswith("acme/"))
    assert error.body() == {
        "message": "Validation Failed",
        "errors": [
            {
                "message": "The listed users and repositories cannot be searched either because the resources do not "
                "exist or you do not have permission to view them.",
                "resource": "Search",
                "field": "q",
                "code": "invalid",
            }
        ],
        "documentation_url": "https://docs.github.com/v3/search/",
        "status": "422",
    }


def test_a_repository_without_issues_is_searched_in_vain() -> None:
    index = SearchIndex()
    assert "cannot be searched" in str(refusal(index, "repo:acme/empty is:issue"))
    index.put_repository("Acme/Empty")
    assert found(index, "repo:acme/empty") == []


def test_people_who_do_not_exist_are_refused(index: SearchIndex) -> None:
    error = refusal(index, "is:issue author:ghost", user_exists=lambda login: login == "bob")
    assert "listed users cannot be searched" in str(error)
    assert found(index, "author:bob,ghost", user_exists=lambda login: login == "bob") == [2]


def test_a_qualifier_that_github_has_and_the_simulator_lacks_is_refused_loudly(index: SearchIndex) -> None:
    assert "team: is not simulated" in str(refusal(index, "is:issue team:acme/core"))


def test_an_impossible_date_is_refused_in_githubs_words(index: SearchIndex) -> None:
    error = refusal(index, "is:issue created:>@today-1w")
    assert error.errors[0]["message"] == (
        '">@today-1w" is not a recognized date/time format. '
        "Please provide an ISO 8601 date/time value, such as YYYY-MM-DD."
    )
