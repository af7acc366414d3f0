"""The pages that are made from the code are current."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs import generate


@pytest.mark.parametrize("path", generate.pages(), ids=lambda path: path.name)
def test_e1_e2_generated_pages_are_current(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == generate.pages()[path], "run `make docs`"
