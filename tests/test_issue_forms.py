"""The headings that issue forms and templates put into every issue (F3)."""

from __future__ import annotations

import pytest

from bot.issue_forms import headings_in

FORM = """\
name: Bug
body:
  - type: markdown
    attributes:
      value: "## Thanks"
  - type: textarea
    id: steps
    attributes:
      label: "Steps to reproduce"
  - type: input
    attributes:
      label: Version # the one you run
"""


@pytest.mark.parametrize(
    ("name", "text", "headings"),
    [
        ("bug.yml", FORM, ["Steps to reproduce", "Version"]),
        (
            "bug.md",
            "---\nname: Bug\n---\n\n## Steps to reproduce\nText\n### Version ###\n",
            ["Steps to reproduce", "Version"],
        ),
        ("config.txt", "## Not a template", []),
        ("broken.yml", "label\nlabel:\n  :label: x", []),
    ],
)
def test_f3_headings_of_forms_and_templates(name: str, text: str, headings: list[str]) -> None:
    assert headings_in(name, text) == headings
