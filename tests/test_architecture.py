"""The shape of the house: who imports whom, that importing does nothing, and that app.yml asks for no more than used."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from bot import manifest
from bot.events.parse import COMMENT_ACTIONS, INSTALLATION_ACTIONS, ISSUE_ACTIONS, REPOSITORY_ACTIONS
from bot.router import Route, Router
from handlers import ROUTES

ROOT = Path(__file__).parent.parent
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in ("bot", "handlers")
    for path in sorted((ROOT / package).rglob("*.py"))
}
COMPOSITION_ROOT = "bot.wiring"


def imports(module: str) -> Iterator[str]:
    """Every module that a module names in an import, wherever in the file it stands."""
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


@pytest.mark.parametrize("module", [name for name in MODULES if within(name, "bot") and name != COMPOSITION_ROOT])
def test_bot_never_imports_handlers(module: str) -> None:
    assert not [name for name in imports(module) if within(name, "handlers")]


# What has effects, and is therefore out of reach for what must stay pure.
EFFECTS = (
    *("bot.github", "bot.store", "bot.jobs", "bot.web", "bot.worker", "bot.wiring", "bot.cli", "bot.simulator"),
    *("githubkit", "httpx", "requests", "sqlalchemy", "dbos", "flask", "socket", "subprocess"),
    *("logging", "os", "random", "time"),
)


@pytest.mark.parametrize("module", [n for n in MODULES if within(n, "bot.ranking", "bot.render", "bot.events")])
def test_the_pure_core_has_no_effects_and_no_clock(module: str) -> None:
    assert not [name for name in imports(module) if within(name, *EFFECTS)]


@pytest.mark.parametrize("module", [name for name in MODULES if within(name, "bot.simulator")])
def test_the_simulator_knows_nothing_of_the_bot(module: str) -> None:
    """It is a GitHub of its own: code shared with the bot could share the bot's mistakes."""
    shared = ("bot.simulator", "bot.errors", "bot.model")
    assert not [
        name for name in imports(module) if within(name, "bot", "handlers") and not within(name, "bot", *shared)
    ]


IMPORT_ALL = """
import importlib, pkgutil, sys
import {packages}

# The standard library and third parties are loaded first: what they do is not ours.
names = {names}
wanted = {{name.partition(".")[0] for name in names}}
seen = []

def watch(event, arguments):
    if event in ("socket.connect", "socket.bind", "subprocess.Popen", "os.system", "sqlite3.connect", "os.mkdir"):
        seen.append((event, str(arguments)[:200]))
    elif event == "open":
        path, mode, flags = arguments
        # Reading code is what importing is; anything opened for writing is an effect, bytecode caches apart.
        if isinstance(mode, str) and set(mode) & set("wax+") and "__pycache__" not in str(path):
            seen.append((event, str(path)))

sys.addaudithook(watch)
threads = __import__("threading").active_count()
for name in names:
    importlib.import_module(name)
assert __import__("threading").active_count() == threads, "a module started a thread"
print(seen)
"""


def test_importing_any_module_does_nothing(tmp_path: Path) -> None:
    """No connection, no file written, no process, no thread; and it works in an empty environment and directory."""
    code = IMPORT_ALL.format(
        packages="bot, handlers", names=sorted(set(MODULES) - {"bot.__main__", "bot.gunicorn_conf"})
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr
    assert list(tmp_path.iterdir()) == []


def test_c1_the_manifest_asks_for_what_the_table_needs_and_no_more() -> None:
    asked = YAML(typ="safe").load((ROOT / "app.yml").read_text(encoding="utf-8"))
    assert set(asked["default_events"]) == {"issues", "issue_comment", "push", "repository"} == manifest.events(ROUTES)
    needed = {"issues": "write", "contents": "read", "metadata": "read"}
    assert asked["default_permissions"] == needed == manifest.permissions(ROUTES)


def test_c1_every_event_that_is_queued_has_a_handler() -> None:
    """And the other way round: no row of the table waits for what the parser drops."""
    handled = {(route.event, action) for route in ROUTES for action in route.actions}
    queued = {
        "issues": ISSUE_ACTIONS,
        "issue_comment": COMMENT_ACTIONS,
        "installation": INSTALLATION_ACTIONS,
        "installation_repositories": {"added", "removed"},
        "repository": REPOSITORY_ACTIONS,
        "push": {""},
    }
    assert handled == {(event, action) for event, actions in queued.items() for action in actions}


def test_two_handlers_for_one_action_are_refused() -> None:
    route = Route("issues", ("opened",), lambda event, services: None)
    with pytest.raises(ValueError, match=r"issues\.opened"):
        Router([route, route])


@pytest.mark.parametrize("module", MODULES)
def test_no_file_is_long(module: str) -> None:
    assert len(MODULES[module].read_text(encoding="utf-8").splitlines()) <= 400
