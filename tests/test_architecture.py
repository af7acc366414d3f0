"""The shape of the house: who imports whom, that importing does nothing, that app.yml asks for no more than is used."""

from __future__ import annotations

import ast
import re
import statistics
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from bot.app.wiring import manifest
from bot.deliveries.events import OWN_ACTIONS
from bot.deliveries.payloads import COMMENT_ACTIONS, INSTALLATION_ACTIONS, ISSUE_ACTIONS, REPOSITORY_ACTIONS
from handlers import ROUTES

ROOT = Path(__file__).parent.parent
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in ("bot", "handlers")
    for path in sorted((ROOT / package).rglob("*.py"))
}
# Libraries that speak to somebody.
OUTSIDE = ("githubkit", "httpx", "requests", "sqlalchemy", "flask", "socket", "subprocess")

# What python, gunicorn and alembic run as a script: to do something at once is what these are for.
SCRIPTS = {"bot.__main__", "bot.gunicorn_conf", "bot.storage.migrations.env"}


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(module: str) -> tuple[str, ...]:
    """Every module that a module names in an import, wherever in the file it stands."""
    named = []
    for node in ast.walk(parsed(MODULES[module])):
        if isinstance(node, ast.Import):
            named += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            named += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return tuple(named)


def within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def crossings(
    packages: tuple[str, ...], forbidden: tuple[str, ...], allowed: tuple[str, ...] = ()
) -> dict[str, list[str]]:
    """What modules of some packages import although they must not."""
    found = {
        module: [name for name in imports(module) if within(name, *forbidden) and not within(name, *allowed)]
        for module in MODULES
        if within(module, *packages)
    }
    return {module: names for module, names in found.items() if names}


ROOMS = (
    "domain",
    "text",
    "platform",
    "simulator",
    "github",
    "storage",
    "deliveries",
    "conversation",
    "search",
    "quality",
    "interfaces",
    "app",
)
"""The rooms of `bot`, lowest first: each imports only from itself and from those before it."""

LOOSE = {"__init__", "__main__", "api", "gunicorn_conf", "web"}
"""The files beside the rooms: where Python, gunicorn and programs that use Doppel as a library come in."""


def test_the_rooms_are_these_and_import_downwards_only() -> None:
    inside = {path.stem for path in (ROOT / "bot").iterdir() if path.is_dir() or path.suffix == ".py"}
    assert inside - {"__pycache__"} == {*ROOMS, *LOOSE}
    upwards = {
        room: crossings((f"bot.{room}",), tuple(f"bot.{above}" for above in ROOMS[at + 1 :]))
        for at, room in enumerate(ROOMS)
    }
    assert {room: found for room, found in upwards.items() if found} == {}


def test_only_the_top_room_knows_the_handlers() -> None:
    known_by = crossings(("bot",), ("handlers",))
    assert known_by and all(within(module, "bot.app") for module in known_by)


def test_the_pure_core_and_what_calls_itself_pure_have_no_effects_and_no_clock() -> None:
    core = (
        "bot.domain",
        "bot.text",
        "bot.search.ranking",
        "bot.conversation.commands",
        "bot.conversation.config",
        "bot.conversation.render",
        "bot.conversation.messages",
        "bot.deliveries.events",
        "bot.deliveries.payloads",
    )
    named = [name for name, path in MODULES.items() if re.search(r"\bPure\.", ast.get_docstring(parsed(path)) or "")]
    assert len(named) > 20
    effects = ("bot.storage", "bot.web", "bot.app", "bot.github", "bot.simulator", "logging", "os", "random", "time")
    assert crossings((*core, *named), (*effects, *OUTSIDE)) == {}
    clocks = [
        f"{name}: {ast.unparse(node)}"
        for name in named
        for node in ast.walk(parsed(MODULES[name]))
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ("datetime.now", "datetime.utcnow", "date.today")
    ]
    assert clocks == []


def test_the_simulator_knows_nothing_of_the_bot() -> None:
    """It is a GitHub of its own: code shared with the bot could share the bot's mistakes."""
    assert (
        crossings(
            ("bot.simulator",),
            ("bot", "handlers"),
            allowed=("bot.simulator", "bot.domain.errors", "bot.domain.entities"),
        )
        == {}
    )


def circles(arrows: dict[str, set[str]]) -> list[set[str]]:
    """What leads back to itself: each set holds all that are reached from one another."""
    reached: dict[str, set[str]] = {}
    for start in arrows:
        seen, waiting = set[str](), [start]
        while waiting:
            new = arrows.get(waiting.pop(), set()) - seen
            seen |= new
            waiting += new
        reached[start] = seen
    round_trips = [{name for name in seen if start in reached.get(name, ())} for start, seen in reached.items()]
    return [one for at, one in enumerate(round_trips) if one and one not in round_trips[:at]]


def room(module: str) -> str:
    """The room or single file of `bot` that a module is in; all handlers are one room."""
    return ".".join(module.split(".")[:2]) if within(module, "bot") else "handlers"


PACKAGES = {module for module, path in MODULES.items() if path.name == "__init__.py"}


@pytest.mark.parametrize(
    ("place", "left_out"),
    [(room, {"bot"}), (lambda module: ".".join(module.split(".")[:3]), PACKAGES), (str, PACKAGES)],
)
def test_no_package_folder_or_module_leads_back_to_itself(place: Callable[[str], str], left_out: set[str]) -> None:
    """So each can be read, and changed, knowing only what is below it; imports for types alone count as well.

    A package's `__init__` names what is in it, and importing a file of it runs it first: the last two leave it out.
    """
    arrows: dict[str, set[str]] = {}
    for module in set(MODULES) - left_out:
        known = {place(name) for name in imports(module) if name in MODULES and name not in left_out}
        arrows.setdefault(place(module), set()).update(known - {place(module)})
    assert circles(arrows) == []


def test_circles_are_seen() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [{"b", "c"}]


IMPORT_ALL = """
import contextlib, importlib, sys, threading

# What the standard library and third parties do when they are loaded is not ours.
for name in {others}:
    with contextlib.suppress(ImportError):
        importlib.import_module(name)

EFFECTS = {{"socket.connect", "socket.bind", "subprocess.Popen", "os.system", "sqlite3.connect", "os.mkdir"}}
seen = []

def watch(event, arguments):
    writes = event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+")
    if event in EFFECTS or writes:
        seen.append((event, str(arguments)[:200]))

sys.addaudithook(watch)
threads = threading.active_count()
for name in {ours}:
    importlib.import_module(name)
assert threading.active_count() == threads, "a module started a thread"
print(seen)
"""


@pytest.mark.slow
def test_importing_any_module_does_nothing(tmp_path: Path) -> None:
    """No connection, no file written, no process, no thread; and it works in an empty environment and directory."""
    ours = sorted(set(MODULES) - SCRIPTS)
    others = sorted({name for module in ours for name in imports(module) if not within(name, "bot", "handlers")})
    done = subprocess.run(
        [sys.executable, "-B", "-c", IMPORT_ALL.format(ours=ours, others=others)],
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
    assert set(asked["default_events"]) == {"issues", "issue_comment", "push", "repository"} == manifest.events()
    needed = {"issues": "write", "contents": "read", "metadata": "read"}
    assert asked["default_permissions"] == needed == manifest.permissions()


def test_c1_every_event_that_is_queued_has_a_handler() -> None:
    """And the other way round: no row of the table waits for what the parser drops, or the bot queues for itself."""
    handled = {(route.event, action) for route in ROUTES for action in route.actions}
    queued = {
        "issues": ISSUE_ACTIONS | OWN_ACTIONS,
        "issue_comment": COMMENT_ACTIONS,
        "installation": INSTALLATION_ACTIONS,
        "installation_repositories": {"added", "removed"},
        "repository": REPOSITORY_ACTIONS,
        "push": {""},
        "index": {""},
        "scan": {""},
        "evaluation": {""},
    }
    assert not OWN_ACTIONS & ISSUE_ACTIONS, "no delivery can bring it"
    assert handled == {(event, action) for event, actions in queued.items() for action in actions}


def test_files_are_worth_opening_and_not_too_long() -> None:
    lines = {module: len(path.read_text(encoding="utf-8").splitlines()) for module, path in MODULES.items()}
    assert statistics.mean(lines.values()) > 100
    assert {module: count for module, count in lines.items() if count > 400} == {}


def test_no_test_goes_by_how_fast_the_machine_is() -> None:
    """Who waits does so by `tests.waiting`; what something costs is counted, or judged by `tests.effort`."""
    clock = re.compile(r"\b(?:process_time|thread_time|perf_counter|monotonic)(?:_ns)?\(\)")
    # The last counts what a wait has to tell by how long it took.
    mine = {"waiting.py", "effort.py", "fuzz/__main__.py", "store/database/test_waiting.py"}
    files = {path.relative_to(ROOT / "tests").as_posix(): path for path in (ROOT / "tests").rglob("*.py")}
    assert {name for name, path in files.items() if clock.search(path.read_text(encoding="utf-8"))} <= mine


def test_nothing_private_of_a_dependency_is_used() -> None:
    """It can be gone with any release, and nobody tells. Ruff (SLF001) tells of attributes written with a dot."""
    private = re.compile(r"(^|\.)_(?!_)")
    by_name = re.compile(r"\b(?:get|set|has|del)attr\([^()]*,\s*[\"']_(?!_)")
    found = {
        module: [name for name in imports(module) if private.search(name) and not within(name, "bot", "handlers")]
        + by_name.findall(path.read_text(encoding="utf-8"))
        for module, path in MODULES.items()
    }
    assert {module: names for module, names in found.items() if names} == {}
