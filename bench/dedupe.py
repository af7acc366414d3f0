"""How long grouping a large playbook takes, beside the bare product of its vectors.

    .venv/bin/python bench/dedupe.py [--entries 50000] [--dimensions 256]

Vectors are made up: a tenth of the entries are near copies of others. The baseline makes the same
product with numpy and does nothing with it. Memory is what grouping allocates at its peak, beside the n² matrix that
it does not hold. Processor time is measured, since others may share the machine.
"""

from __future__ import annotations

import argparse
import sys
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bot.interfaces.agents.vectors import Vectors, components, unit_rows

THRESHOLD = 0.85
ROWS = 256


def made_up(entries: int, dimensions: int, copies: float) -> Vectors:
    """Unit vectors; of a share of them the cosine to an earlier one is about 0.95."""
    random = np.random.default_rng(1)
    vectors = random.normal(size=(entries, dimensions)).astype(np.float32)
    for place in np.flatnonzero(random.random(entries) < copies):
        if place:
            vectors[place] = vectors[random.integers(place)] + 0.33 * vectors[place]
    return unit_rows(vectors, entries)


def product(vectors: Vectors) -> None:
    """The baseline."""
    for start in range(0, len(vectors), ROWS):
        _ = vectors[start : start + ROWS] @ vectors[start:].T


def seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=50_000)
    parser.add_argument("--dimensions", type=int, default=256)
    options = parser.parse_args()
    for name, copies in (("a tenth are near copies", 0.1), ("all are copies", 1.0)):
        vectors = made_up(options.entries, options.dimensions, copies)
        if copies == 1.0:
            vectors[:] = vectors[0]
        base = seconds(partial(product, vectors))
        own = seconds(partial(components, vectors, THRESHOLD))
        part = vectors[:10_000]
        tracemalloc.start()
        groups = len(set(components(part, THRESHOLD).tolist()))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        print(f"{len(vectors)} entries of {options.dimensions} dimensions, {name}")
        print(f"  grouping {own:6.1f} s   baseline: bare product {base:6.1f} s   ratio {own / base:4.2f}")
        print(
            f"  {len(part)} of them: {groups} groups, {peak / 1e6:.0f} MB, beside {4e-6 * len(part) ** 2:.0f} MB for n²"
        )


if __name__ == "__main__":
    main()
