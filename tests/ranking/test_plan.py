"""F8: the plan of queries within GitHub's limits."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.entities import RepoRef
from bot.search.ranking.plan import natural_query, plan_own_words, plan_queries
from bot.search.ranking.relevance import WordRarity
from bot.simulator.search import SearchIndex

REPO = RepoRef("acme", "app")
NOTHING = WordRarity(0, {})


def test_f8_the_literal_query_is_the_first_of_the_plan() -> None:
    plan = plan_queries(REPO, "Fix: crash on login!", "The dialog hangs", NOTHING)
    assert plan.queries == (
        "repo:acme/app is:issue in:title Fix crash login",
        "repo:acme/app is:issue in:title (Fix OR crash OR login)",
        "repo:acme/app is:issue in:body (Fix OR crash OR login)",
        "repo:acme/app is:issue in:body (Fix OR crash OR login OR dialog OR hangs)",
    )


def test_f8_an_error_message_is_asked_for_as_a_phrase() -> None:
    plan = plan_queries(REPO, "Crash on login", 'log:\npanic: index out of range [5] "x"\n', NOTHING)
    assert plan.queries[3] == (
        'repo:acme/app is:issue in:body ("index out of range" OR Crash OR login OR log OR panic OR index)'
    )


def test_f8_rare_words_come_first_and_hopeless_ones_last() -> None:
    counts = {"crash": 900, "login": 30, "frobnic": 3}
    plan = plan_queries(REPO, "crash login frobnicates unseen", "", WordRarity(2_000, counts), budget=2)
    assert plan.queries[1] == "repo:acme/app is:issue in:title (frobnicates OR login OR crash OR unseen)"


def test_f8_words_of_the_body_that_every_fifth_issue_has_are_not_asked_for() -> None:
    counts = {"toolbar": 199, "browser": 200, "window": 900}
    plan = plan_queries(REPO, "window", "browser toolbar", WordRarity(1_000, counts))
    assert plan.queries[-1] == "repo:acme/app is:issue in:body (toolbar OR window)"


def test_f8_state_and_number_of_words_are_the_callers() -> None:
    plan = plan_queries(REPO, "crash on login page", "", NOTHING, state="open", words_max=2)
    assert plan.queries[0] == "repo:acme/app is:issue is:open in:title crash login"
    assert all(" is:open " in query for query in plan.queries)


def test_f8_fallback_is_pairs_of_the_rarest_words() -> None:
    counts = {"crash": 900, "login": 30, "frobnic": 3}
    plan = plan_queries(REPO, "crash login frobnicates", "", WordRarity(2_000, counts))
    assert plan.fallback == (
        "repo:acme/app is:issue in:title,body frobnicates login",
        "repo:acme/app is:issue in:title,body frobnicates crash",
        "repo:acme/app is:issue in:title,body login crash",
    )


def test_f8_fallback_is_made_of_the_title_and_of_the_body_only_where_that_says_nothing() -> None:
    assert plan_queries(REPO, "crash login", "the dialog hangs", NOTHING).fallback == (
        "repo:acme/app is:issue in:title,body crash login",
    )
    assert plan_queries(REPO, "the", "dialog hangs", NOTHING).fallback == (
        "repo:acme/app is:issue in:title,body dialog hangs",
    )


def test_f8_no_query_has_more_operators_than_github_allows() -> None:
    plan = plan_queries(REPO, " ".join(f"word{n}" for n in range(9)), "", NOTHING)
    assert max(query.count(" OR ") for query in plan.queries) == 5


def test_f8_of_long_words_as_many_are_asked_for_as_githubs_256_characters_hold() -> None:
    words = [f"{name}_of_the_settings_of_the_window_that_fails" for name in ("font", "size", "icon", "text", "type")]
    plan = plan_queries(REPO, " ".join(words), "", NOTHING)
    assert plan.queries[1] == f"repo:acme/app is:issue in:title ({' OR '.join(words[:4])})"
    assert max(len(query.partition(" in:")[2].partition(" ")[2]) for query in plan.queries) <= 256


def test_f8_no_query_twice_and_none_without_words() -> None:
    assert plan_queries(REPO, "login", "", NOTHING).queries == (
        "repo:acme/app is:issue in:title login",
        "repo:acme/app is:issue in:body login",
    )
    assert plan_queries(REPO, "", "", NOTHING).queries == ()
    assert plan_queries(REPO, "the of", "!!!", NOTHING).queries == ()


def test_f8_a_title_that_says_nothing_leaves_the_body_to_search_by() -> None:
    plan = plan_queries(REPO, "it is not", "Dialog hangs", NOTHING)
    assert plan.queries == ("repo:acme/app is:issue in:body (Dialog OR hangs)",)


def test_f8_scripts_without_spaces_are_asked_for_in_pairs() -> None:
    plan = plan_queries(REPO, "設定画面", "", NOTHING)
    assert plan.queries[1] == "repo:acme/app is:issue in:title (設定 OR 定画 OR 画面)"


def test_own_words_are_asked_for_together_then_apart() -> None:
    plan = plan_own_words(REPO, 'proxy "and" label:bug timeout')
    assert plan.queries == (
        "repo:acme/app is:issue in:title,body proxy and label bug timeout",
        "repo:acme/app is:issue in:title (proxy OR label OR bug OR timeout)",
        "repo:acme/app is:issue in:title,body (proxy OR label OR bug OR timeout)",
    )
    assert plan_own_words(REPO, "!!!").queries == ()
    assert len(plan_own_words(REPO, "a b", budget=1).queries) == 1


def test_the_natural_query_has_no_operators_and_no_quotes() -> None:
    assert natural_query(REPO, 'Crash OR "hang" (sometimes)') == "repo:acme/app is:issue Crash or hang sometimes"
    assert natural_query(REPO, "...") == ""


def test_f9_a_title_of_stop_words_is_no_question_of_meaning() -> None:
    assert natural_query(REPO, "It is not") == ""
    assert natural_query(REPO, "It is not 登录") == "repo:acme/app is:issue It is not 登录"


hostile = st.text(max_size=300) | st.lists(
    st.sampled_from(["AND", "OR", 'x"', "repo:a/b", "-y", "(z", "日本語", "w" * 70])
)


@pytest.mark.slow
@given(hostile, hostile, st.integers(1, 10))
def test_f8_every_query_keeps_githubs_limits(title: str | list[str], body: str | list[str], budget: int) -> None:
    texts = [part if isinstance(part, str) else " ".join(part) for part in (title, body)]
    plan = plan_queries(REPO, texts[0], texts[1], NOTHING, budget=budget)
    assert len(plan.queries) <= budget
    assert len(set(plan.queries)) == len(plan.queries)
    index = SearchIndex()
    index.put_repository(str(REPO))
    for query in (*plan.queries, *plan.fallback, *plan_own_words(REPO, texts[0]).queries):
        text = query.partition(" in:")[2].partition(" ")[2]
        assert query.startswith("repo:acme/app is:issue in:")
        assert len(text) <= 256
        assert len(re.findall(r"\b(?:AND|OR|NOT)\b", text)) <= 5
        assert not set(text) & set('":<>-\\\n')
        index.search(query)  # raises QueryError where GitHub would answer 422
