"""The headings that issue forms and templates put into every issue (F3)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.deliveries.payloads import TEMPLATES
from bot.domain.entities import RepoRef, Repository
from bot.domain.errors import Forbidden
from bot.github.repository import RepoClient
from bot.platform.settings import load
from bot.search.issue_forms import FILES_SIZE_MAX, IssueForms, boilerplate_of, boilerplate_of_all
from bot.storage import open_store

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

FOLDED = """\
body:
  - type: textarea
    attributes:
      label: >-
        What did you expect
        to happen?
  - type: textarea
    attributes:
      label: Steps to
        reproduce it
  - type: input
    attributes: {label: "A \\"quoted\\" one"}
  - type: input
    attributes:
      label: |
        Version
      value: Such as
        1.0
"""

ANCHORED = """\
body:
  - &version
    type: input
    attributes: &asked
      label: Version
  - type: textarea
    attributes:
      <<: *asked
      label: !!str What happened
      value: See the log.
  - *version
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
        (
            "quoted.yml",
            "a:\n- label: \"Related issue # or link\" # asked for\n- label: 'It''s # five'\n- label: 'plain' # three\n",
            ["Related issue # or link", "It's # five", "plain"],
        ),
        (
            "folded.yml",
            FOLDED,
            ["What did you expect to happen?", "Steps to reproduce it", 'A "quoted" one', "Version"],
        ),
        ("anchored.yml", ANCHORED, ["Version", "What happened"]),
        ("broken.yml", "label\nlabel:\n  :label: x", []),
    ],
)
def test_f3_headings_of_forms_and_templates(name: str, text: str, headings: list[str]) -> None:
    assert list(boilerplate_of(name, text).headings) == headings


BLOCKS = """\
body:
  - type: textarea
    attributes:
      label: Logs
      render: shell
      value: |
        Paste the log here.

        It helps a lot.
    validations:
      required: true
  - type: input
    attributes:
      label: Version
      value: "1.0 or later" # as shown
  - type: checkboxes
    attributes:
      label: Before you go on
      options:
        - label: I have searched
"""


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        (
            "bug.yml",
            BLOCKS,
            {
                "_No response_",
                "### Logs",
                "### Version",
                "### Before you go on",
                "- [x] I have searched",
                "- [ ] I have searched",
                "Paste the log here.",
                "It helps a lot.",
                "1.0 or later",
            },
        ),
        ("bug.yml", FOLDED, {"### What did you expect to happen?", "### Version", "Such as 1.0"}),
        ("bug.yml", ANCHORED, {"### Version", "### What happened", "See the log."}),
        ("bug.yml", BLOCKS.replace("\n", "\r\n"), {"Paste the log here.", "It helps a lot."}),
        (
            "bug.md",
            "---\nname: Bug\nlabels: bug\n---\n\n**Describe the bug**\nA clear description.\n\n## Steps\n",
            {"**Describe the bug**", "A clear description.", "## Steps"},
        ),
        ("config.txt", "Not a template", set()),
    ],
)
def test_every_line_that_forms_and_templates_supply_is_known(name: str, text: str, lines: set[str]) -> None:
    found = {line.strip() for line in boilerplate_of(name, text).lines}
    assert lines <= found
    assert not {"name: Bug", "required: true", "render: shell", "Not a template"} & found


def test_what_goes_beyond_the_size_of_all_files_together_is_left_out() -> None:
    long = "# Long\n" + "x" * (FILES_SIZE_MAX - len(FORM))
    files = {"a.yml": FORM, "b.md": long, "c.md": "## Short\n", "d.md": "## Shorter"}
    assert [one.headings for one in boilerplate_of_all(files)] == [
        ("Steps to reproduce", "Version"),
        ("Short",),
        ("Shorter",),
    ]
    assert len(boilerplate_of_all({"b.md": long[: FILES_SIZE_MAX - len(FORM)], "a.yml": FORM, "c.md": "# No"})) == 2


class _Folders(RepoClient):
    """A repository with one form, to which access rests at first."""

    suspended = True

    def __init__(self) -> None:
        """Nothing is asked of GitHub."""

    def directory(self, repo: RepoRef, path: str) -> list[str]:
        if self.suspended:
            raise Forbidden(f"read {path}", 403, "This installation has been suspended")
        return {"": [".github/"], ".github": ["ISSUE_TEMPLATE/"], TEMPLATES: ["bug.yml"]}[path]

    def file(self, repo: RepoRef, path: str) -> str | None:
        return FORM


def test_forms_that_could_not_be_read_while_access_rested_are_read_when_it_is_back(tmp_path: Path) -> None:
    folders, here = _Folders(), Repository(7, RepoRef("acme", "app"), private=False)
    store = open_store(load({"DOPPEL_HOME": str(tmp_path)}, tmp_path / ".env"))
    try:
        forms = IssueForms(store, lambda: datetime.now(UTC))
        assert forms.headings(folders, here) == ()
        folders.suspended = False
        assert forms.headings(folders, here) == ("Steps to reproduce", "Version")
        folders.suspended = True
        assert forms.headings(folders, here) == ("Steps to reproduce", "Version"), "which are remembered"
    finally:
        store.close()
