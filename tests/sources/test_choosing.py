"""H4: which sources are asked, how many of their results are looked at, and how much each counts."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from bot.conversation.config.parser import parse_config
from bot.conversation.config.schema import SOURCES, SourceConfig
from bot.search.sources import SourceResult, limit_results, merge_results
from bot.search.sources.federated import SOURCE_NAMES, FinderSettings, only_sources
from tests.matching.made import an_issue

NOW = datetime(2026, 3, 1, tzinfo=UTC)
LOCAL = {"full-text", "vectors"}
ALWAYS = {"github-hybrid", "github-similar", "known-issues", "siblings"}


def answer(source: str, *lists: list[int]) -> SourceResult:
    return SourceResult(source, tuple(tuple(an_issue(number, "Title") for number in numbers) for numbers in lists))


def test_every_source_of_the_settings_can_be_chosen() -> None:
    assert set(SOURCE_NAMES) == set(SOURCES)


def test_h4_what_is_on_by_itself() -> None:
    assert set(FinderSettings(sources={}).use(indexed=False)) == {"github-search", *ALWAYS}
    assert set(FinderSettings(sources={}).use(indexed=True)) == {*LOCAL, *ALWAYS}
    assert "github-hybrid" not in FinderSettings(sources={}, hybrid=False).use(indexed=True)


def test_h4_githubs_search_answers_where_the_index_is_ready_and_none_of_it_is_asked() -> None:
    """Who wants GitHub's search instead of the bot's own index would have nothing, from the day on that it is ready."""
    config, _ = parse_config("search: {hybrid: off}\nsources: {full-text: off, vectors: off}")
    assert "github-search" in FinderSettings(sources=config.sources, hybrid=config.search.hybrid).use(indexed=True)
    for one in LOCAL:
        assert "github-search" not in FinderSettings(sources={one: SourceConfig(enabled=False)}).use(indexed=True)


def test_h4_settings_switch_sources_on_and_off() -> None:
    config, _ = parse_config(
        "sources: {github-search: on, vectors: off, discussions: {limit: 3}, github-hybrid: {weight: 2}}"
    )
    use = FinderSettings(sources=config.sources, hybrid=False).use(indexed=True)
    assert set(use) == {"full-text", "github-search", "discussions", *ALWAYS}
    assert (use["discussions"].limit, use["github-hybrid"].weight) == (3, 2.0)
    # There is nothing local to ask where no index is, whatever the settings say.
    assert not LOCAL & set(FinderSettings(sources=only_sources("full-text", "vectors")).use(indexed=False))
    assert set(FinderSettings(sources=only_sources("full-text")).use(indexed=True)) == {"full-text"}


@given(st.lists(st.lists(st.integers(1, 9), unique=True), max_size=3), st.integers(0, 9))
def test_h4_a_limit_is_never_passed_and_keeps_orders(lists: list[list[int]], limit: int) -> None:
    cut = limit_results(answer("github-search", *lists), limit)
    kept = [[one.number for one in found] for found in cut.lists]
    distinct = {number for found in kept for number in found}
    assert len(distinct) == min(limit, len({number for found in lists for number in found}))
    assert kept == [[number for number in found if number in distinct] for found in lists]


def test_h4_a_weight_decides_what_comes_first() -> None:
    answers = [answer("github-search", [1, 2]), answer("github-hybrid", [3, 4])]
    light = merge_results(answers, NOW, {"github-search": SourceConfig(weight=0.5)})
    assert [hit.issue.number for hit in light] == [3, 4, 1, 2]
    assert [hit.issue.number for hit in merge_results(answers, NOW)] == [1, 3, 2, 4]
