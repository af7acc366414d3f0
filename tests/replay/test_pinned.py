"""What is said of made-up issues, to the third digit.

Weights hold for the features that they were learned from. A change to how text is read or compared moves every
probability a little, and no other test would see it. Where that is meant, weights are learned anew (`doppel train`, see
docs/matching.md) and the files are written again (`tests/replay/pinned.py`).
"""

from __future__ import annotations

import pytest

from tests.replay.pinned import CASES, kept, project, read, said

# Sums differ in their last digits from processor to processor, and so may the order of what is equally unlikely.
NOTHING = 0.0003


@pytest.mark.slow
@pytest.mark.parametrize(("name", "source", "asked"), CASES)
def test_h5_probabilities_are_those_of_the_features_that_were_learned_from(name: str, source: str, asked: int) -> None:
    now, before = read(said(project(name), source, asked)), read(kept(name, source).read_text(encoding="utf-8"))
    assert now.keys() == before.keys()
    other = {
        number: (before[number], now[number])
        for number in before
        for one in before[number].keys() | now[number].keys()
        if now[number].get(one, 0.0) != pytest.approx(before[number].get(one, 0.0), rel=0.01, abs=NOTHING)
    }
    assert not other, "issue: (what was said of it, what is said now)"
