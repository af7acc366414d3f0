"""D2, D3, D7 on made-up playbooks, against a reference that is slow and plain."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bot.domain.merging import merge
from bot.interfaces.agents.run import SECTION_SLUGS, run_deduplication
from bot.interfaces.agents.vectors import components, unit_rows

NAMES = ["OTHERS", "MISTAKES TO AVOID", "mine", "PATTERNS & APPROACHES", "yours"]


@st.composite
def cases(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, list[int]], float]:
    """A playbook, its vectors by text, and a threshold that no similarity is near enough to for rounding to decide."""
    count = draw(st.integers(0, 14))
    # Few dimensions and small whole numbers, so that many are alike and chains arise.
    vectors = draw(st.lists(st.lists(st.integers(-2, 3), min_size=3, max_size=3), min_size=count, max_size=count))
    sections: dict[str, list[dict[str, Any]]] = {name: [] for name in draw(st.permutations(NAMES))}
    for place in range(count):
        numbers = st.integers(0, 2**70)
        entry = {"name": str(place), "text": f"t{place}", "helpful": draw(numbers), "harmful": draw(numbers)}
        sections[draw(st.sampled_from(NAMES))].append(entry)
    book = {"version": 1, "last_updated": "today", "sections": sections}
    return (
        book,
        {f"t{place}": row for place, row in enumerate(vectors)},
        draw(st.sampled_from([0.051, 0.42, 0.83, 0.96])),
    )


def reference(book: dict[str, Any], vectors: dict[str, list[int]], threshold: float) -> dict[str, Any]:
    """Read D again, word for word."""
    book = copy.deepcopy(book)
    order = [name for name in SECTION_SLUGS if name in book["sections"]]
    order += [name for name in book["sections"] if name not in order]
    flat = [(name, entry) for name in order for entry in book["sections"][name]]
    groups = [{place} for place in range(len(flat))]
    for i in range(len(flat)):
        for j in range(i):
            if cosine(vectors[flat[i][1]["text"]], vectors[flat[j][1]["text"]]) >= threshold:
                mine = next(group for group in groups if i in group)
                theirs = next(group for group in groups if j in group)
                if mine is not theirs:
                    groups.remove(theirs)
                    mine |= theirs
    for group in groups:
        first = min(group)
        for counter in ("helpful", "harmful"):
            flat[first][1][counter] = sum(flat[place][1][counter] for place in group)
        for place in group - {first}:
            book["sections"][flat[place][0]].remove(flat[place][1])
    return book


def cosine(one: list[int], other: list[int]) -> float:
    a, b = np.array(one, dtype=float), np.array(other, dtype=float)
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / lengths if lengths else 0.0


@pytest.mark.slow
@given(cases())
def test_d2_d3_d7_it_does_what_the_reference_does(case: tuple[dict[str, Any], dict[str, list[int]], float]) -> None:
    book, vectors, threshold = case
    before, expected = copy.deepcopy(book), reference(book, vectors, threshold)
    lists = dict(book["sections"])
    result = run_deduplication(book, threshold, lambda texts: [vectors[text] for text in texts])
    assert result is book
    assert list(book) == list(before)
    assert list(book["sections"]) == list(before["sections"])
    assert all(book["sections"][name] is entries for name, entries in lists.items())
    assert book == expected
    remaining = [entry for entries in book["sections"].values() for entry in entries]
    for place, one in enumerate(remaining):
        for other in remaining[:place]:
            assert cosine(vectors[one["text"]], vectors[other["text"]]) < threshold
    for counter in ("helpful", "harmful"):
        everything = [entry for entries in before["sections"].values() for entry in entries]
        assert sum(entry[counter] for entry in remaining) == sum(entry[counter] for entry in everything)
        assert all(entry[counter] >= 0 for entry in remaining)
    again = copy.deepcopy(book)
    assert run_deduplication(book, threshold, lambda texts: [vectors[text] for text in texts]) == again


def connected(vectors: NDArray[np.float32], threshold: float) -> list[int]:
    """Each one's group by its first member, by walking the whole matrix."""
    alike = vectors.astype(float) @ vectors.astype(float).T >= threshold
    labels = [-1] * len(vectors)
    for start in range(len(vectors)):
        waiting = [start] if labels[start] < 0 else []
        while waiting:
            one = waiting.pop()
            if labels[one] < 0:
                labels[one] = start
                waiting += np.flatnonzero(alike[one]).tolist()
    return labels


@pytest.mark.slow
@settings(max_examples=60)
@given(st.integers(0, 60), st.integers(1, 4), st.integers(1, 17), st.floats(0, 0.999), st.integers(0, 2**32 - 1))
def test_d2_rows_give_the_connected_components(count: int, width: int, rows: int, threshold: float, seed: int) -> None:
    vectors = unit_rows(np.random.default_rng(seed).normal(size=(count, width)), count)
    similarities = vectors.astype(float) @ vectors.astype(float).T
    # Where rounding could decide there is no one right answer.
    threshold = next(t for t in np.arange(threshold, 2, 1e-4) if not (abs(similarities - t) < 4e-6).any())
    assert components(vectors, threshold, rows).tolist() == connected(vectors, threshold)


def test_d2_a_long_chain_is_one_group_in_any_order() -> None:
    places = np.random.default_rng(1).permutation(600)
    vectors = unit_rows(np.stack([np.cos(places * 0.01), np.sin(places * 0.01)], axis=1), 600)
    assert not components(vectors, np.cos(0.015), 64).any()
    assert len(set(components(unit_rows(vectors[places != 300], 599), np.cos(0.015), 64).tolist())) == 2


@pytest.mark.slow
def test_d2_many_copies_take_no_longer() -> None:
    """Each pair of 20,000 copies is alike; they must not be looked at one by one."""
    assert not components(np.ones((20_000, 1), dtype=np.float32), 0.85).any()


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9), st.integers(0, 9))))
def test_d8_the_core_asks_only_who_belongs_together(things: list[tuple[int, int, int]]) -> None:
    labels, helpful, harmful = ([thing[part] for thing in things] for part in range(3))
    groups = merge([f"cluster {label}" for label in labels], helpful, harmful)
    assert sorted(one for group in groups for one in group.members) == list(range(len(things)))
    assert [group.survivor for group in groups] == sorted(group.survivor for group in groups)
    for group in groups:
        assert list(group.members) == [place for place, label in enumerate(labels) if label == labels[group.survivor]]
        assert (group.helpful, group.harmful) == (
            sum(helpful[one] for one in group.members),
            sum(harmful[one] for one in group.members),
        )
