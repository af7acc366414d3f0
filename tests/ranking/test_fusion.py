"""R1–R6: fusing ranked lists and dropping what was found twice."""

from __future__ import annotations

import copy
import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.search.ranking.fusion import (
    RankedSourceList,
    SourceType,
    UnifiedRetrievalChunk,
    cross_corpus_rrf,
    deduplicate_chunks,
    source_label,
)

NOW = datetime(2024, 6, 1, tzinfo=UTC)


def chunk(
    id: str, text: str = "", source: SourceType = SourceType.CODE, score: float | None = None, age: float | None = None
) -> UnifiedRetrievalChunk:
    created = None if age is None else NOW - timedelta(days=age)
    return UnifiedRetrievalChunk(
        id, text, source, source_label(source, id), f"https://x/{id}", rrf_score=score, created_at=created
    )


def ranked(*ids: str, source: SourceType = SourceType.CODE) -> RankedSourceList:
    return RankedSourceList(source, [chunk(id, source=source) for id in ids])


def ids(chunks: list[UnifiedRetrievalChunk]) -> list[str]:
    return [one.id for one in chunks]


def test_r1_labels() -> None:
    assert source_label(SourceType.CODE, "file.ts") == "[code: file.ts]"
    assert source_label(SourceType.REVIEW_COMMENT, "PR #123") == "[review: PR #123]"
    assert source_label(SourceType.WIKI, "Page Title") == "[wiki: Page Title]"
    assert source_label(SourceType.ISSUE, "#12") == "[issue: #12]"


def test_h4_a_lists_weight_multiplies_what_its_ranks_add() -> None:
    heavy = RankedSourceList(SourceType.CODE, ranked("a", "b").items, weight=3)
    fused = cross_corpus_rrf(
        [heavy, ranked("c", "b"), RankedSourceList(SourceType.WIKI, ranked("d").items, 0)], now=NOW
    )
    assert {one.id: one.rrf_score for one in fused} == pytest.approx({"a": 3 / 60, "b": 4 / 61, "c": 1 / 60, "d": 0})


def test_r3_recent_items_are_boosted_and_old_relevant_ones_still_surface() -> None:
    young, old = chunk("young", age=29), chunk("old", age=400)
    fused = cross_corpus_rrf([RankedSourceList(SourceType.CODE, [old, young])], now=NOW)
    assert ids(fused) == ["young", "old"]
    assert fused[0].rrf_score == pytest.approx(1.15 / 61)
    filler = [chunk(f"f{n}", age=5) for n in range(20)]
    fused = cross_corpus_rrf(
        [RankedSourceList(SourceType.CODE, [old, *filler]), RankedSourceList(SourceType.WIKI, [old])], now=NOW
    )
    assert fused[0].id == "old"


@pytest.mark.parametrize("day", ["2024-05-20T10:00:00Z", "2024-05-20T12:00:00+02:00", "2024-05-20"])
def test_r3_times_may_be_text_as_json_has_them_and_stay_as_they_are(day: str) -> None:
    recent, old = chunk("a"), chunk("b")
    recent.created_at, old.created_at = day, "2023-01-01T00:00:00Z"
    fused = cross_corpus_rrf([RankedSourceList(SourceType.CODE, [old, recent])], now="2024-06-01T00:00:00Z")
    assert [(item.id, item.created_at) for item in fused] == [("a", day), ("b", "2023-01-01T00:00:00Z")]


@pytest.mark.parametrize(
    "odd", ["", "last week", "Sat, 31 Jan 2026 12:00:00 GMT", 1_717_200_000, 1.7e9, True, ["2024"]]
)
def test_r3_what_is_no_time_has_no_age_and_fails_no_fusion(odd: Any) -> None:
    unknown, recent = chunk("a"), chunk("b")
    unknown.created_at, recent.created_at = odd, "2024-05-31T00:00:00Z"
    fused = cross_corpus_rrf([RankedSourceList(SourceType.CODE, [unknown, recent])], now="2024-06-01T00:00:00Z")
    assert [(item.id, item.rrf_score) for item in fused] == [("b", pytest.approx(1.15 / 61)), ("a", 1 / 60)]


def test_r3_the_window_and_its_factor_can_be_set_and_naive_times_are_utc() -> None:
    item = chunk("a", age=31)
    item.created_at = (NOW - timedelta(days=31)).replace(tzinfo=None)
    one = [RankedSourceList(SourceType.CODE, [item])]
    assert cross_corpus_rrf(one, now=NOW)[0].rrf_score == pytest.approx(1 / 60)
    fused = cross_corpus_rrf(one, recency_boost_days=31, recency_boost_factor=1, now=NOW.replace(tzinfo=None))
    assert fused[0].rrf_score == pytest.approx(2 / 60)


@pytest.mark.parametrize("days", [1_000_000, 10**12, math.inf])
def test_r3_a_window_may_reach_before_all_dates(days: float) -> None:
    (item,) = cross_corpus_rrf([ranked("a")], now=NOW)
    item.created_at = NOW - timedelta(days=9_000)
    (item,) = cross_corpus_rrf([RankedSourceList(SourceType.CODE, [item])], recency_boost_days=days, now=NOW)
    assert item.rrf_score == pytest.approx(1.15 / 60)


def test_r3_what_is_newer_than_now_is_recent() -> None:
    fused = cross_corpus_rrf([RankedSourceList(SourceType.CODE, [chunk("a", age=-1)])], now=NOW)
    assert fused[0].rrf_score == pytest.approx(1.15 / 60)


def test_r4_the_same_ranks_in_another_order_of_lists_make_the_same_score() -> None:
    """1/60 + 1/69 + 1/61 added up one by one is less than 1/61 + 1/60 + 1/69, and the later one came first."""
    lists = []
    for place, (first, second) in enumerate([(0, 1), (9, 0), (1, 9)]):
        row = [f"{place}-{rank}" for rank in range(10)]
        row[first], row[second] = "first", "second"
        lists.append(ranked(*row))
    fused = cross_corpus_rrf(lists, now=NOW)
    assert ids(fused)[:2] == ["first", "second"]
    assert fused[0].rrf_score == fused[1].rrf_score


def test_r4_stable_order_top_k_and_empty_lists() -> None:
    assert ids(cross_corpus_rrf([ranked(), ranked("b"), ranked("a")], now=NOW)) == ["b", "a"]
    assert ids(cross_corpus_rrf([ranked("a", "b", "c")], top_k=2, now=NOW)) == ["a", "b"]
    assert cross_corpus_rrf([ranked("a")], top_k=0, now=NOW) == []
    assert cross_corpus_rrf([], now=NOW) == []


@pytest.mark.parametrize(
    "options", [{"k": 0}, {"k": -1}, {"k": math.nan}, {"top_k": -1}, {"recency_boost_factor": math.nan}]
)
def test_r4_senseless_arguments_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        cross_corpus_rrf([], **options)  # type: ignore[arg-type]


def test_r2_a_weight_that_is_no_number_is_refused_by_the_name_of_its_list() -> None:
    heavy = RankedSourceList(SourceType.WIKI, [], weight=math.nan)
    with pytest.raises(ValueError, match=r"weight: nan .* \(list of wiki\)"):
        cross_corpus_rrf([heavy], now=NOW)


def test_r4_h2_labels_survive_the_merge_and_every_source_is_kept() -> None:
    other = UnifiedRetrievalChunk(
        "a", "", SourceType.WIKI, "[wiki: A]", metadata={"n": 1}, alternate_sources=["[x: y]"]
    )
    fused = cross_corpus_rrf([ranked("a"), RankedSourceList(SourceType.WIKI, [other])], now=NOW)
    assert fused[0].source_label == "[code: a]"
    assert fused[0].alternate_sources == ["[wiki: A]", "[x: y]"]
    assert fused[0].metadata == {"n": 1}


def test_r5_a_repetition_within_one_source_is_dropped_and_noted() -> None:
    words = " ".join(f"w{n}" for n in range(9))
    first, again = chunk("1", words), chunk("2", words.upper() + " tenth")
    again.alternate_sources = ["[wiki: W]"]
    elsewhere = chunk("3", words, SourceType.WIKI)
    kept = deduplicate_chunks([first, again, elsewhere])
    assert ids(kept) == ["1", "3"]
    assert kept[0].alternate_sources == ["[code: 2]", "[wiki: W]"]
    assert ids(deduplicate_chunks([first, again, elsewhere], 0.91)) == ["1", "2", "3"]


def test_r5_across_sources_the_better_score_stays() -> None:
    low, high = chunk("low", "a b", score=0.1), chunk("high", "B a", SourceType.WIKI, score=0.2)
    kept = deduplicate_chunks([low, high], mode="cross-corpus")
    assert ids(kept) == ["high"]
    assert kept[0].alternate_sources == ["[code: low]"]


def test_r5_empty_texts_are_not_alike() -> None:
    assert ids(deduplicate_chunks([chunk("1"), chunk("2", "  ")], 0.0)) == ["1", "2"]


def test_r5_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="mode"):
        deduplicate_chunks([], mode="both")  # type: ignore[arg-type]


chunks = st.lists(
    st.builds(
        chunk,
        st.sampled_from("abcd"),
        st.sampled_from(["", "x y", "x y z", "y X"]),
        st.sampled_from([SourceType.CODE, SourceType.WIKI]),
        st.sampled_from([None, 0.1, 0.2]),
        st.sampled_from([None, 1.0, 100.0]),
    ),
    max_size=6,
)


@pytest.mark.slow
@given(st.lists(chunks, max_size=3), st.sampled_from(["within-corpus", "cross-corpus"]))
def test_r6_neither_function_changes_its_input(lists: list[list[UnifiedRetrievalChunk]], mode: str) -> None:
    sources = [RankedSourceList(SourceType.CODE, items) for items in lists]
    before = copy.deepcopy(sources)
    fused = cross_corpus_rrf(sources, now=NOW)
    for one in fused:
        one.metadata["touched"] = True
        one.alternate_sources.append("[touched]")
    for items in lists:
        for one in deduplicate_chunks(items, mode=mode):  # type: ignore[arg-type]
            one.metadata["touched"] = True
            one.alternate_sources.append("[touched]")
    assert sources == before


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=6), max_size=4))
def test_r2_agrees_with_the_formula(lists: list[list[str]]) -> None:
    fused = cross_corpus_rrf([ranked(*items) for items in lists], now=NOW)
    expected = {
        id: sum(1 / (60 + items.index(id)) for items in lists if id in items) for items in lists for id in items
    }
    assert {one.id: one.rrf_score for one in fused} == pytest.approx(expected)
    scores = [one.rrf_score or 0 for one in fused]
    assert scores == sorted(scores, reverse=True)
