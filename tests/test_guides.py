"""What the pages tell people to do can be done: commands, options, settings, targets, links and tests are there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest
from ruamel.yaml import YAML

from bot.app.cli import COMMANDS, cli
from bot.conversation.commands.parser import parse
from bot.conversation.commands.table import Command
from bot.conversation.config.parser import parse_config
from bot.conversation.messages.catalogue import messages_for
from bot.domain.entities import RepoRef
from bot.platform.settings import VARIABLES

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
GUIDES = [
    page for page in PAGES if page.parent.name == "guides" or page.name in ("README.md", "privacy.md", "releases.md")
]

FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
CALL = re.compile(r"(?:^|[\s(`])(?:[./\w]*\.venv/bin/)?doppel +(?=[a-z-])(.+)")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"\b(?:bot|handlers|bench)/[\w/-]*\.(?:py|json)\b")
TEST = re.compile(r"`(?:(tests/[\w/]+\.py)|(?:tests/[\w/]+\.py::)?(test_\w+))`")
# Read or written by others: what the simulator writes for its clients, PostgreSQL's own, and what the tests read.
FOREIGN = re.compile(r"SIM_TOKEN_\w+|PGPASSWORD|DOPPEL_TEST_POSTGRES")


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def calls(page: Path) -> Iterator[list[str]]:
    """Every call of `doppel` on the page: in blocks for the terminal, and between backticks."""
    for kind, block in FENCE.findall(text(page)):
        lines = block.splitlines() if kind == "console" else []
        # Where a block shows answers as well, what is typed has the prompt before it.
        yield from filter(None, map(call, [line[2:] for line in lines if line.startswith("$ ")] or lines))
    spans = re.findall(r"`([^`\n]+)`", FENCE.sub("", text(page)))
    yield from filter(None, (call(span) for span in spans if span.startswith("doppel ")))


def call(line: str) -> list[str]:
    """The words after `doppel` in a line for the terminal; empty where it calls something else."""
    found = CALL.search(line)
    words = shlex.split(re.split(r"\s#| \| | > |;|`", found[1])[0]) if found else []
    return words if words and words[0] in COMMANDS else []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_and_option_that_a_page_names_exists(page: Path) -> None:
    for words in calls(page):
        command: click.Command | None = cli.get_command(click.Context(cli), words[0])
        if isinstance(command, click.Group) and len(words) > 1 and words[1] in command.commands:
            command = command.commands[words[1]]
        assert command is not None, words
        known = {name for option in command.params for name in option.opts} | {"--help", "-h"}
        assert [word for word in words if re.match(r"--?[a-z]", word) and word.split("=")[0] not in known] == [], words


def test_commands_are_looked_for_in_earnest() -> None:
    """Else a change of the pages' form would let everything pass."""
    found = {words[0] for page in PAGES for words in calls(page)}
    assert {"serve", "find", "digest", "evaluate", "forget", "simulator", "mcp", "check-config"} <= found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in LINK.findall(FENCE.sub("", text(page))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


@cache
def anchors(page: Path) -> frozenset[str]:
    """The headings of a page as GitHub's addresses have them."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", text(page)), re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings)


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: f"{page.parent.name}-{page.name}")
def test_every_slash_command_is_one(page: Path) -> None:
    for span in re.findall(r"/duplicates[^`\n']*", text(page)):
        line = span.strip().replace("#N", "#1").replace("WORDS…", "words")
        if line != "/duplicates …":
            (parsed,) = parse(line, RepoRef("acme", "app"))
            assert isinstance(parsed, Command), span


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: f"{page.parent.name}-{page.name}")
def test_every_setting_is_one(page: Path) -> None:
    blocks = [block for kind, block in FENCE.findall(text(page)) if kind == "yaml"]
    spans = re.findall(
        r"`((?:mode|label|calibrate|min_confidence|known_issues|digest|remote_text): [^`]+)`", text(page)
    )
    for settings in (*blocks, *spans):
        assert YAML(typ="safe").load(settings)
        assert parse_config(settings)[1] == (), settings


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: f"{page.parent.name}-{page.name}")
def test_every_variable_and_target_is_one(page: Path) -> None:
    ours = {variable.name for variable in VARIABLES}
    named = set(re.findall(r"`((?:DOPPEL|GITHUB|WEBHOOK|DATABASE|OTEL|SIM)_[A-Z_]+)", text(page)))
    assert {name for name in named if not FOREIGN.fullmatch(name)} <= ours
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)", text(page))) <= targets
    assert set(re.findall(r"^make ([a-z-]+)", text(page), re.MULTILINE)) <= targets


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_test_that_is_named_exists(page: Path) -> None:
    for file, name in TEST.findall(text(page)):
        assert not file or (ROOT / file).is_file(), file
        assert not name or name in all_tests(), name


def test_every_file_of_the_code_that_is_named_is_there() -> None:
    named = {(page.name, file) for page in PAGES for file in CODE.findall(text(page))}
    assert len(named) > 40
    assert [f"{page}: {file}" for page, file in sorted(named) if not (ROOT / file).is_file()] == []


def test_the_first_change_meets_every_test_that_knows_its_text() -> None:
    """What the guide for contributors has run after the change is all that fails by it."""
    guide = text(ROOT / "docs/guides/contributor.md")
    whole = [line for line in re.findall(r"pytest (tests/[^`\n]+)", guide) if " -k " not in line]
    named = [word for line in whole for word in line.split()]
    known = [file for file in (ROOT / "tests").rglob("*.*") if file.suffix in (".py", ".md") and file != Path(__file__)]
    knowing = {str(file.relative_to(ROOT)) for file in known if messages_for("en", {}).unmuted() in text(file)}
    assert len(knowing) >= 3
    assert [file for file in sorted(knowing) if not file.startswith(tuple(named))] == []


@cache
def all_tests() -> frozenset[str]:
    code = "".join(text(file) for file in (ROOT / "tests").rglob("test_*.py"))
    return frozenset(re.findall(r"\bdef (test_\w+)", code))


def test_each_line_of_the_privacy_page_names_what_shows_it() -> None:
    rows = [
        line
        for line in text(ROOT / "docs" / "privacy.md").splitlines()
        if re.match(r"\| (?!what \||who \||where to)\w", line)
    ]
    assert len(rows) > 20
    shown = re.compile(rf"{TEST.pattern}|`doppel [a-z]|\]\([a-z]+\.md")
    assert [row for row in rows if not shown.search(row)] == []


def test_each_page_is_in_the_list_of_all_pages() -> None:
    index = text(ROOT / "docs" / "README.md")
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")} - {"README.md"}
    assert [page for page in sorted(pages) if f"]({page})" not in index] == []
