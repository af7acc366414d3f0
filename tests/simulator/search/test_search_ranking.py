"""Best match, sorting, and the semantic stand-in."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from bot.simulator.search import SearchIndex
from bot.simulator.search.ranking import idf
from tests.simulator.search.search_reference import index_of, issue, refusal


def ranked(index: SearchIndex, q: str, **more: Any) -> list[int]:
    return index.search(q + " is:issue", per_page=100, **more).ids


def test_a_title_counts_more_than_a_body_and_a_body_more_than_a_comment() -> None:
    filler = [issue(number, f"other {number}", "unrelated text") for number in range(10, 30)]
    index = index_of(
        [
            issue(1, "crash here", "unrelated text"),
            issue(2, "other thing", "crash text"),
            issue(3, "other thing", "unrelated text", comments=("crash text",)),
            *filler,
        ]
    )
    assert ranked(index, "crash") == [1, 2, 3]


def test_the_rarer_word_and_the_shorter_text_count_more() -> None:
    common = [issue(number, "crash", "x") for number in range(10, 40)]
    index = index_of([issue(1, "crash"), issue(2, "quasar"), issue(3, "quasar and very many other words"), *common])
    assert ranked(index, "quasar OR crash")[:2] == [2, 3]
    assert idf(1, 100) > idf(2, 100) > idf(100, 100) > 0


def test_ties_are_broken_by_the_newest() -> None:
    index = index_of(issue(number, "same words") for number in (3, 1, 2))
    assert ranked(index, "words") == [3, 2, 1]
    assert ranked(index, "") == [3, 2, 1]


def test_scores_fall_and_say_1_where_nothing_is_ranked() -> None:
    index = index_of([issue(1, "crash crash"), issue(2, "crash of something else"), issue(3, "x", "crash")])
    scores = index.search("crash is:issue").scores
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > scores[-1] > 0
    assert index.search("is:issue").scores == [1.0, 1.0, 1.0]
    assert index.search("crash is:issue", sort="created").scores == [1.0, 1.0, 1.0]


SORTED = index_of(
    [
        issue(1, "a", comment_count=5, reactions=1, reactions_by_content={"+1": 1}),
        issue(2, "a", comment_count=9, reactions=4, reactions_by_content={"heart": 4}),
        issue(3, "a", comment_count=2, reactions=9, reactions_by_content={"+1": 3, "hooray": 6}),
        issue(4, "a", updated_at=datetime(2020, 1, 1, tzinfo=UTC)),
    ]
)


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("created", [4, 3, 2, 1]),
        ("updated", [3, 2, 1, 4]),
        ("comments", [2, 1, 3, 4]),
        ("reactions", [3, 2, 1, 4]),
        ("interactions", [2, 3, 1, 4]),
        ("reactions-+1", [3, 1, 4, 2]),
        ("reactions-tada", [3, 4, 2, 1]),
    ],
)
def test_sorting(sort: str, expected: list[int]) -> None:
    assert ranked(SORTED, "a", sort=sort) == expected
    assert ranked(SORTED, "a", sort=sort, order="asc") == expected[::-1]
    assert ranked(SORTED, f"a sort:{sort}") == expected
    assert ranked(SORTED, f"a sort:{sort}-asc") == expected[::-1]
    assert ranked(SORTED, f"a sort:{sort}-asc", sort="created") == [4, 3, 2, 1]


def test_an_unknown_sort_means_best_match() -> None:
    assert ranked(SORTED, "a", sort="nonsense") == ranked(SORTED, "a sort:nonsense") == ranked(SORTED, "a")


MEANING = index_of(
    [
        issue(1, "Login fails behind a proxy", "The password is refused."),
        issue(2, "Proxy authentication", "cannot sign in"),
        issue(3, "Dark theme is too dark"),
        issue(4, "Login proxy", state="closed"),
        *(issue(number, f"Something else {number}", "nothing to see") for number in range(10, 40)),
    ]
)


def test_f8_hybrid_search_does_not_and_its_words() -> None:
    assert ranked(MEANING, "proxies refusing my login password") == []
    result = MEANING.search("proxies refusing my login password is:issue", search_type="hybrid")
    assert (result.search_type, result.fallback_reasons) == ("hybrid", ())
    assert result.ids[0] == 1
    assert set(result.ids) == {1, 2, 4}


def test_hybrid_search_honours_qualifiers_and_visibility() -> None:
    assert ranked(MEANING, "login proxy is:open", search_type="semantic") == [1, 2]
    assert ranked(MEANING, "login proxy", search_type="hybrid", visible=lambda repo: repo == "acme/none") == []


def test_hybrid_prefers_what_holds_every_word() -> None:
    both = MEANING.search("login proxy is:issue", search_type="hybrid")
    assert set(both.ids[:2]) == {1, 4}
    assert both.scores[0] > 1


def test_hybrid_search_returns_a_limited_number() -> None:
    index = index_of(issue(number, "crash") for number in range(1, 300))
    result = index.search("crash report is:issue", search_type="hybrid", per_page=100)
    assert result.total_count == len(result.ids) == 100
    assert result.ids == list(range(299, 199, -1))


@pytest.mark.parametrize(
    ("q", "reasons"),
    [
        ("is:issue is:open", ("no_text_terms",)),
        ('is:issue "login fails"', ("quoted_text",)),
        ("is:pr login", ("non_issue_target",)),
        ("is:issue login OR proxy", ("or_boolean_not_supported",)),
        ("is:issue (login)", ("or_boolean_not_supported",)),
        ("is:issue in:comments login", ("only_non_semantic_fields_requested",)),
        ('is:pr "a" OR b', ("quoted_text", "non_issue_target", "or_boolean_not_supported")),
    ],
)
@pytest.mark.parametrize("search_type", ["hybrid", "semantic"])
def test_f8_the_reasons_of_a_fall_back_to_lexical(q: str, reasons: tuple[str, ...], search_type: str) -> None:
    result = MEANING.search(q, search_type=search_type)
    assert (result.search_type, result.fallback_reasons) == ("lexical", reasons)
    assert result.ids == MEANING.search(q).ids


def test_falling_back_where_nothing_is_visible_or_the_service_is_out() -> None:
    result = MEANING.search("login is:issue", search_type="hybrid", visible=lambda repo: False)
    assert result.fallback_reasons == ("no_accessible_repos",)
    index = index_of([issue(1, "login")])
    hybrid = index.search("login is:issue", search_type="hybrid", outage="service_unavailable")
    assert hybrid.fallback_reasons == ("service_unavailable",)
    assert index.search("login is:issue", outage="service_unavailable").fallback_reasons == ()


def test_an_unknown_search_type_is_lexical() -> None:
    result = MEANING.search("login proxy is:issue", search_type="psychic")
    assert (result.search_type, result.fallback_reasons) == ("lexical", ())
    assert "longer than 256" in str(refusal(MEANING, "x" * 257, search_type="hybrid"))
