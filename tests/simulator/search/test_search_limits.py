"""What GitHub refuses, and how: SPEC G (256 characters, five operators, 1,000 results), and the 422 bodies."""

from __future__ import annotations

import pytest

from tests.simulator.search.search_reference import found, index_of, issue, refusal

INDEX = index_of(issue(number, "word", f"n{number}") for number in range(1, 1202))


@pytest.mark.parametrize("q", ["", "   ", "\n\t"])
def test_an_empty_query_is_missing(q: str) -> None:
    assert refusal(INDEX, q).body() == {
        "message": "Validation Failed",
        "errors": [{"resource": "Search", "field": "q", "code": "missing"}],
        "documentation_url": "https://docs.github.com/v3/search/",
        "status": "422",
    }


def test_g_256_characters_are_allowed_and_257_are_not() -> None:
    assert found(INDEX, "a" * 256) == []
    error = refusal(INDEX, "is:issue " + "a" * 257)
    assert error.message == "Validation Failed"
    assert error.errors == [
        {
            "message": "The search is longer than 256 characters.",
            "resource": "Search",
            "field": "q",
            "code": "invalid",
        }
    ]


def test_g_qualifiers_and_operators_do_not_count_as_text() -> None:
    qualifiers = 'repo:acme/app is:issue -label:"' + "x" * 200 + '" '
    assert found(INDEX, qualifiers + "a" * 120 + " OR " + "b" * 120) == []
    assert "longer than 256" in str(refusal(INDEX, "is:issue " + "ab " * 86 + '"c d"'))


def test_g_five_operators_are_allowed_and_six_are_not() -> None:
    assert found(INDEX, "n1 OR n2 OR n3 OR n4 OR n5 OR n6") == [1, 2, 3, 4, 5, 6]
    error = refusal(INDEX, "is:issue n1 OR n2 OR n3 OR n4 OR n5 AND n6 NOT n7")
    assert error.errors[0]["message"] == "More than five AND / OR / NOT operators were used."
    assert found(INDEX, 'n1 and or not "AND OR NOT AND OR NOT"') == []


def test_five_levels_of_parentheses_are_allowed_and_six_are_not() -> None:
    assert found(INDEX, "(((((n1)))))") == [1]
    assert "five levels" in str(refusal(INDEX, "is:issue ((((((n1))))))"))
    assert found(INDEX, "(" * 200 + "n1") == [1]


def test_g_only_the_first_1000_results_can_be_reached() -> None:
    assert INDEX.search("word is:issue", page=10, per_page=100).total_count == 1201
    assert len(INDEX.search("word is:issue", page=10, per_page=100).ids) == 100
    assert len(INDEX.search("word is:issue", page=34, per_page=30).ids) == 10
    error = refusal(INDEX, "word is:issue", page=11, per_page=100)
    assert error.body() == {
        "message": "Only the first 1000 search results are available",
        "documentation_url": "https://docs.github.com/v3/search/",
        "status": "422",
    }


@pytest.mark.parametrize(("asked", "given"), [(1, 1), (100, 100), (101, 100), (0, 30), (-5, 30)])
def test_pages_have_at_most_100_results(asked: int, given: int) -> None:
    assert len(INDEX.search("word is:issue", per_page=asked).ids) == given


def test_pages_are_disjoint_and_complete() -> None:
    pages = [INDEX.search("word is:issue", page=page, per_page=100).ids for page in range(1, 11)]
    assert len({number for page in pages for number in page}) == 1000
    assert INDEX.search("n7 is:issue", page=2).ids == []
    assert INDEX.search("n7 is:issue", page=-1).ids == [7]


@pytest.mark.parametrize("q", ["word", "word is:open", "word -is:pr", "word NOT is:issue"])
def test_a_query_must_say_which_kind_it_wants(q: str) -> None:
    assert refusal(INDEX, q).body() == {
        "message": "Query must include 'is:issue' or 'is:pull-request'",
        "documentation_url": "https://docs.github.com/rest/search/search#search-issues-and-pull-requests",
        "status": "422",
    }
    assert INDEX.search(q, require_kind=False).total_count >= 0


@pytest.mark.parametrize("q", ["is:issue n1", "is:pr n1", "is:pull-request n1", "type:issue n1", "type:pr n1"])
def test_any_kind_will_do(q: str) -> None:
    assert INDEX.search(q).total_count == (1 if "issue" in q else 0)
