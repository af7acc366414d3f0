"""D1–D9 through the one import that hosts have."""

from __future__ import annotations

import copy
import itertools
import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from bot.interfaces.agents import run
from bot.interfaces.agents.run import SECTION_SLUGS, run_deduplication
from tests.knowledge.playbooks import MISTAKES, PATTERNS, PREFERENCES, VARIABLE, entry, fails, given, never, playbook


def left(book: dict[str, Any]) -> dict[str, list[tuple[str, int, int]]]:
    return {
        section: [(one["text"], one["helpful"], one["harmful"]) for one in entries]
        for section, entries in book["sections"].items()
    }


def test_d9_two_alike_in_one_section() -> None:
    book = playbook(patterns=[entry("a", 5, 0), entry("b", 3, 1)])
    assert run_deduplication(book, embed=given({("a", "b"): 0.95}, "a", "b")) is book
    assert left(book) == {PATTERNS: [("a", 8, 1)]}
    assert book["sections"][PATTERNS][0]["name"] == "name of a"


def test_d9_alike_across_sections_the_later_one_keeps_its_empty_list() -> None:
    book = playbook(patterns=[entry("a", 4, 0)], mistakes=[entry("b", 2, 1)])
    run_deduplication(book, embed=given({("a", "b"): 0.9}, "a", "b"))
    assert left(book) == {PATTERNS: [("a", 6, 1)], MISTAKES: []}


def test_d9_below_the_threshold_nothing_changes() -> None:
    book = playbook(patterns=[entry("a"), entry("b")])
    before = copy.deepcopy(book)
    assert run_deduplication(book, embed=given({("a", "b"): 0.84}, "a", "b")) == before
    assert len(run_deduplication(book, embed=given({("a", "b"): 0.85}, "a", "b"))["sections"][PATTERNS]) == 1


def test_d2_d9_what_hangs_together_is_one_group() -> None:
    book = playbook(patterns=[entry("a"), entry("b"), entry("c")])
    run_deduplication(book, embed=given({("a", "b"): 0.9, ("b", "c"): 0.88, ("a", "c"): 0.8}, "a", "b", "c"))
    assert left(book) == {PATTERNS: [("a", 3, 0)]}


def test_d9_two_separate_pairs() -> None:
    book = playbook(patterns=[entry("a"), entry("c")], preferences=[entry("d", 7), entry("b", 0, 2)])
    run_deduplication(book, embed=given({("a", "b"): 0.9, ("c", "d"): 0.9}, "a", "b", "c", "d"))
    assert left(book) == {PATTERNS: [("a", 1, 2), ("c", 8, 0)], PREFERENCES: []}


def test_d1_sections_count_in_canonical_order_then_in_their_own() -> None:
    book = playbook(zebra=[entry("z", 1)], mistakes=[entry("m", 2)], ant=[entry("n", 3)], patterns=[entry("p", 4)])
    run_deduplication(book, embed=lambda texts: np.ones((len(texts), 1)))
    assert left(book) == {"zebra": [], MISTAKES: [], "ant": [], PATTERNS: [("p", 10, 0)]}
    book = playbook(zebra=[entry("z", 1)], ant=[entry("n", 3)])
    run_deduplication(book, embed=lambda texts: np.ones((len(texts), 1)))
    assert left(book) == {"zebra": [("z", 4, 0)], "ant": []}
    assert SECTION_SLUGS[0] == PATTERNS


def test_d1_a_host_can_replace_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "SECTION_SLUGS", (MISTAKES, PATTERNS))
    book = playbook(patterns=[entry("p")], mistakes=[entry("m")])
    run_deduplication(book, embed=lambda texts: np.ones((len(texts), 1)))
    assert left(book) == {PATTERNS: [], MISTAKES: [("m", 2, 0)]}


def test_d7_other_keys_are_kept() -> None:
    book = playbook(patterns=[entry("a") | {"tags": ["x"]}, entry("b") | {"tags": ["y"]}]) | {"owner": "ann"}
    run_deduplication(book, embed=given({("a", "b"): 0.9}, "a", "b"))
    assert list(book) == ["version", "last_updated", "sections", "owner"]
    assert book["sections"][PATTERNS][0]["tags"] == ["x"]


TABS, NEVER, ALSO, INDENT = "always use tabs", "never use tabs", "tabs, always", "indentation in general"
PORTS = "the port is 5432", "the port is 5433"


def test_d5a_contradictions_stay_apart_and_each_takes_what_says_the_same() -> None:
    book = playbook(patterns=[entry(TABS, 5), entry(NEVER, 2), *map(entry, PORTS)], mistakes=[entry(ALSO, 3)])
    alike = {(TABS, NEVER): 0.95, (TABS, ALSO): 0.95, (ALSO, NEVER): 0.95, PORTS: 0.99}
    run_deduplication(book, embed=given(alike, TABS, NEVER, ALSO, *PORTS))
    assert left(book) == {PATTERNS: [(TABS, 8, 0), (NEVER, 2, 0), *((port, 1, 0) for port in PORTS)], MISTAKES: []}


@pytest.mark.parametrize("order", list(itertools.permutations([INDENT, TABS, NEVER])))
def test_d5a_what_is_like_both_sides_of_a_contradiction_joins_neither(order: tuple[str, ...]) -> None:
    """Else the second run would merge what the first one kept apart."""
    book = playbook(patterns=[entry(text) for text in order])
    embed = given({(INDENT, TABS): 0.9, (INDENT, NEVER): 0.9, (TABS, NEVER): 0.8}, *order)
    for _ in range(2):
        run_deduplication(book, embed=embed)
        assert [one["text"] for one in book["sections"][PATTERNS]] == list(order)


@pytest.mark.parametrize("order", list(itertools.permutations(["no retry", "retry", "retry 3 times", "retry 5 times"])))
def test_d5a_nor_does_it_where_it_contradicts_something_itself(order: tuple[str, ...]) -> None:
    book = playbook(patterns=[entry(text) for text in order])
    run_deduplication(book, embed=lambda texts: np.ones((len(texts), 1)))
    assert [one["text"] for one in book["sections"][PATTERNS]] == list(order)


class TestThreshold:
    """D4."""

    def merges(self, threshold: Any = None, similarity: float = 0.87) -> bool:
        book = playbook(patterns=[entry("a"), entry("b")])
        run_deduplication(book, threshold, given({("a", "b"): similarity}, "a", "b"))
        return len(book["sections"][PATTERNS]) == 1

    def test_d4_the_default_is_085(self) -> None:
        assert self.merges(similarity=0.85)
        assert not self.merges(similarity=0.849)

    def test_d4_d9_the_environment_comes_before_the_default(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(VARIABLE, "0.90")
        assert not self.merges(similarity=0.87)
        assert self.merges(0.86)

    @pytest.mark.parametrize("value", ["a lot", "0,85", "nan"])
    def test_d4_a_variable_that_is_no_number_is_told_and_ignored(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], value: str
    ) -> None:
        monkeypatch.setenv(VARIABLE, value)
        assert self.merges(similarity=0.85)
        assert not self.merges(similarity=0.84)
        assert VARIABLE in capsys.readouterr().err

    @pytest.mark.parametrize(("given", "least"), [(7, 1.0), ("inf", 1.0), (-1, 0.0)])
    def test_d4_it_is_clamped(self, monkeypatch: pytest.MonkeyPatch, given: Any, least: float) -> None:
        monkeypatch.setenv(VARIABLE, str(given))
        explicit = float(given)
        assert self.merges(explicit, 0.99999999) == self.merges(similarity=0.99999999) is True
        assert self.merges(explicit, 0.5) == self.merges(similarity=0.5) == (least == 0)
        assert not self.merges(explicit, -0.1)

    @pytest.mark.parametrize("wrong", [math.nan, "0.5", True, [0.5]])
    def test_d5_an_argument_that_is_no_number_changes_nothing(
        self, capsys: pytest.CaptureFixture[str], wrong: Any
    ) -> None:
        assert not self.merges(wrong, similarity=0.99)
        assert "threshold" in capsys.readouterr().err

    def test_numpys_numbers_are_numbers(self) -> None:
        assert self.merges(np.float32(0.86))


MALFORMED: list[Any] = [
    None,
    [],
    {},
    {"version": 1, "sections": {PATTERNS: [entry("a"), entry("b")]}},
    {"version": 1, "last_updated": "", "sections": [entry("a"), entry("b")]},
    {"version": 1, "last_updated": "", "sections": {7: [entry("a"), entry("b")]}},
    playbook(patterns=[entry("a"), entry("b")], mistakes=None),  # type: ignore[arg-type]
    playbook(patterns=[entry("a"), entry("b"), "c"]),  # type: ignore[list-item]
    playbook(patterns=[entry("a"), {"name": "b", "helpful": 0, "harmful": 0}]),
    playbook(patterns=[entry("a") | {"text": b"a"}, entry("b")]),
    *(playbook(patterns=[entry("a") | {"helpful": value}, entry("b")]) for value in (-1, 1.0, "1", True, math.nan)),
]


@pytest.mark.parametrize("book", MALFORMED, ids=lambda book: str(book)[:60])
def test_d5_malformed_playbooks_are_returned_as_they_were(book: Any, capsys: pytest.CaptureFixture[str]) -> None:
    before = copy.deepcopy(book)
    assert run_deduplication(book, embed=lambda texts: np.ones((len(texts), 2))) is book
    # NaN is not even equal to itself.
    assert repr(book) == repr(before)
    assert "left as it is" in capsys.readouterr().err


def test_d5_one_object_in_two_places_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    shared = [entry("a"), entry("b")]
    for book in (playbook(patterns=shared, mistakes=shared), playbook(patterns=[shared[0]], mistakes=[shared[0]])):
        before = copy.deepcopy(book)
        assert run_deduplication(book, embed=lambda texts: np.ones((len(texts), 2))) == before
        assert "stands in two places" in capsys.readouterr().err


class Wordless(Exception):
    """What a library raises whose message cannot be made."""

    def __str__(self) -> str:
        raise ValueError("no words")


def _fails_without_words(texts: Sequence[str]) -> Any:
    raise Wordless


BROKEN = {
    "raises": fails,
    "raises what has no words": _fails_without_words,
    "NaN": lambda texts: np.full((len(texts), 3), np.nan),
    "one NaN": lambda texts: np.array([[1.0, 0.0], [1.0, 0.0], [math.nan, 0.0]][: len(texts)]),
    "too large for a float": lambda texts: np.full((len(texts), 3), 1e60),
    "too few rows": lambda texts: np.ones((1, 3)),
    "no columns": lambda texts: np.ones((len(texts), 0)),
    "nothing": lambda texts: None,
    "complex": lambda texts: np.full((len(texts), 2), 1 + 1j),
    "ragged": lambda texts: [[1.0] * (place + 1) for place in range(len(texts))],
}


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("embed", BROKEN.values(), ids=BROKEN.keys())
def test_d5_a_broken_model_changes_nothing(embed: Any, capsys: pytest.CaptureFixture[str]) -> None:
    book = playbook(patterns=[entry("a"), entry("b"), entry("c")])
    before = copy.deepcopy(book)
    assert run_deduplication(book, embed=embed) is book
    assert book == before
    assert capsys.readouterr().err.startswith("deduplication: the playbook is left as it is: ")


def test_d5_a_closed_stderr_is_no_reason_to_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    book = playbook(patterns=[entry("a"), entry("b")])
    assert run_deduplication(book, embed=fails) is book


@pytest.mark.parametrize("book", [playbook(), playbook(patterns=[], others=[]), playbook(patterns=[entry("a")])])
def test_d6_d9_nothing_to_compare_asks_no_model(book: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.interfaces.agents.deduplication.choose_model", never)
    before = copy.deepcopy(book)
    assert run_deduplication(book) is book
    assert run_deduplication(book, embed=never) is book
    assert book == before
