"""The pages that are made from the code are current."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs import evaluated, example, generate

# Made before any test runs: who calls a command first decides how its help is asked for.
PAGES = generate.pages()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_e1_e2_generated_pages_are_current(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == PAGES[path], "run `make docs`"


def test_the_picture_of_an_evaluation_is_current() -> None:
    assert generate.PICTURE.read_text(encoding="utf-8") == evaluated.picture(), "run `make docs`"


PAGE = Path(example.__file__).with_name("example-comment.md")


def test_the_example_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == example.page(), "run `make docs`"
