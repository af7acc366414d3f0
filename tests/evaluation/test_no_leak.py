"""Labels of duplicates are out of reach of everything that answers."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "bot"
LABELS = {"duplicate_of", "maybe_related", "body_mentions_master", "dup_unknown_master"}
ANSWERING = [path for room in ("search", "quality/replay") for path in sorted((ROOT / room).rglob("*.py"))]


def imported(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("path", ANSWERING, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_answers_imports_nothing_of_the_evaluation(path: Path) -> None:
    names = imported(ast.parse(path.read_text(encoding="utf-8")))
    assert not [name for name in names if name.startswith(("bot.quality.evaluation", "bot.quality.training"))]


@pytest.mark.parametrize("path", sorted((ROOT / "quality" / "replay").rglob("*.py")), ids=lambda path: path.name)
def test_a_replay_names_no_label(path: Path) -> None:
    """Not as the key of a row: `row["duplicate_of"]` and `row.get("duplicate_of")` are strings of the syntax tree."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    strings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    assert not LABELS & strings
