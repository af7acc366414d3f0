"""docs/example-comment.md shows the comment as it is written today."""

from __future__ import annotations

from pathlib import Path

from docs import example

PAGE = Path(example.__file__).with_name("example-comment.md")


def test_the_example_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == example.page(), "run `make docs`"
