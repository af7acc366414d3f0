"""What is packed comes out again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.search.index.arrays import (
    MOST_COUNTED,
    MOST_FIELDS,
    NO_TERMS,
    Bags,
    counts_of,
    lengths_of,
    numbers_of,
    pack_postings,
    pack_terms,
    read_postings,
    unpack_terms,
)

postings = st.lists(st.tuples(st.integers(1, 2**31 - 1), st.integers(0, 10**6), st.integers(1, 10**4)))
bag = st.dictionaries(st.integers(1, 2**32 - 1), st.integers(1, 400), max_size=5)
documents = st.lists(st.lists(bag, max_size=MOST_FIELDS), max_size=4)


@pytest.mark.slow
@given(postings)
def test_postings(entries: list[tuple[int, int, int]]) -> None:
    numbers, lengths, counts = (np.array([one[i] for one in entries], dtype=np.int64) for i in range(3))
    packed = pack_postings(numbers, lengths, counts)
    half = len(entries) // 2
    again = read_postings(packed[:half].tobytes(), packed[half:].tobytes())
    assert numbers_of(again).tolist() == numbers.tolist()
    assert lengths_of(again).tolist() == np.minimum(lengths, 65_535).tolist()
    assert counts_of(again).tolist() == np.minimum(counts, 255).tolist()


@pytest.mark.slow
@given(documents)
def test_terms(documents: list[list[dict[int, int]]]) -> None:
    blobs = pack_terms([_packed(documents, position) for position in range(MOST_FIELDS)], len(documents))
    bags = unpack_terms([*blobs, NO_TERMS], range(MOST_FIELDS))
    for position, unpacked in enumerate(bags):
        assert len(unpacked) == len(documents) + 1
        for row, fields in enumerate([*documents, []]):
            expected = fields[position] if position < len(fields) else {}
            start, end = unpacked.starts[row : row + 2]
            found = zip(unpacked.terms[start:end].tolist(), unpacked.counts[start:end].tolist(), strict=True)
            assert list(found) == [(term, min(expected[term], 255)) for term in sorted(expected)]
        assert unpacked.rows.tolist() == sorted(unpacked.rows.tolist())


def _packed(documents: list[list[dict[int, int]]], position: int) -> Bags:
    bags = [sorted(fields[position].items()) if position < len(fields) else [] for fields in documents]
    starts = np.cumsum([0, *map(len, bags)])
    entries = np.array([entry for bag in bags for entry in bag], dtype=np.int64).reshape(-1, 2)
    return Bags(starts, entries[:, 0].astype(np.uint32), np.minimum(entries[:, 1], MOST_COUNTED).astype(np.uint8))
