"""The demo's scenes with nothing but what install.py installs (X1, X2)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from bot.app.action.install import requirements
from bot.app.demo.scenario import REPOSITORY, Expect, script, seed
from bot.conversation.marker import ADVICE
from bot.simulator import Server, references
from tests.action.conftest import BOT, Project, listening
from tests.action.runner import ROOT, Runner

JUDGED = {"DOPPEL_JUDGE_URL": "http://127.0.0.1:1/v1"}


def normal(name: str) -> str:
    """A distribution's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name.split("==")[0].split("[")[0]).lower()


def pinned(environ: dict[str, str]) -> dict[str, str]:
    """The versions by name that a job with this environment gets."""
    text = "".join(path.read_text(encoding="utf-8") for path in requirements(environ))
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {normal(line): line.partition("==")[2] for line in lines}


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Like what install.py makes: a Python that has the code and the packages of requirements.txt, and no other."""
    wanted = set(pinned({}))
    others = [top for top, names in packages_distributions().items() if not wanted & set(map(normal, names))]
    made = tmp_path / "made"
    (made / "bin").mkdir(parents=True)
    (made / "only").mkdir()
    forbidden = sorted(top for top in others if top not in ("bot", "handlers", "tests") and not top.startswith("__"))
    (made / "only" / "sitecustomize.py").write_text(
        "import sys\n"
        f"FORBIDDEN = {forbidden!r}\n"
        "class Nowhere:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name in FORBIDDEN:\n"
        "            raise ModuleNotFoundError(f'{name} is not installed there', name=name)\n"
        "sys.meta_path.insert(0, Nowhere())\n"
    )
    python = made / "bin" / "python"
    # -I, by which it heeds no variables, would leave these two folders out.
    python.write_text(f'#!/bin/sh\nshift\nPYTHONPATH="{made / "only"}:{ROOT}" exec "{sys.executable}" "$@"\n')
    python.chmod(0o700)
    return made


# To start a process for each event would take most of the time.
_ACT = """
import json, sys
from tests.action.runner import act
for line in sys.stdin:
    print(json.dumps(act(json.loads(line))), flush=True)
"""


@pytest.fixture
def demo(server: Server, tmp_path: Path, program: Path) -> Iterator[Project]:
    seed(server.sim, REPOSITORY)
    project = Project(server, REPOSITORY, Runner(server.url, REPOSITORY, tmp_path / "runner", program))
    with listening(server, REPOSITORY, project.events):
        yield project


@pytest.fixture
def act(program: Path) -> Iterator[Callable[[dict[str, str]], tuple[int, str]]]:
    """`doppel action` in one process of the program."""
    command = (program / "bin" / "python", "-I", "-c", _ACT)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        asked, answered = process.stdin, process.stdout
        assert asked and answered

        def ask(environ: dict[str, str]) -> tuple[int, str]:
            asked.write(json.dumps(environ) + "\n")
            asked.flush()
            code, output = json.loads(answered.readline())
            return code, output

        yield ask
        asked.close()


@pytest.mark.processes
@pytest.mark.slow
def test_x1_every_scene_of_the_demo(demo: Project, act: Callable[[dict[str, str]], tuple[int, str]]) -> None:
    sim = demo.sim
    for scene in script():
        issue = demo.open(scene.title, scene.body, scene.login)
        # The first scene has run as action.yml says.
        demo.runner.program, demo.runner.act = None, act
        advice = [one for one in demo.said(issue.number) if ADVICE.begins(one)]
        assert demo.last.ok, demo.last.log
        assert len(advice) == (0 if scene.expect is Expect.SILENCE else 1), scene.heading
        assert all(f"/issues/{number})" in advice[0] for number in scene.shows), scene.heading
        for command in scene.commands:
            asked = demo.write(issue.number, command.text, command.login)
            assert "+1" in [one.content for one in asked.reactions], demo.last.log
            said = demo.said(issue.number)
            assert len([one for one in said if ADVICE.begins(one)]) == 1
            if command.expect is Expect.CLOSED:
                assert issue.state_reason == "duplicate"
            elif command.contains and command.contains != "Cached result from":
                assert any(command.contains in one for one in said), command.note
            assert not command.lacks or f"/issues/{command.lacks})" not in said[0], command.note
    written = [one for issue in sim.issues_of(sim.repository(REPOSITORY)) for one in issue.comments]
    for comment in written:
        found = references.parse(comment.body, sim.urls.html)
        assert comment.author.login != BOT or not (found.mentions or found.issues or found.duplicate_of)


def test_x2_what_is_installed_fits_what_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked, have = project["dependencies"] + project["optional-dependencies"]["judge"], pinned(JUDGED)
    from packaging.requirements import Requirement

    wrong = [
        one
        for one in map(Requirement, asked)
        if normal(one.name) in have and not one.specifier.contains(have[normal(one.name)])
    ]
    assert wrong == [] and {"openai", "anthropic"} <= set(have)
    assert not {"flask", "mcp", "psycopg", "gunicorn", "graphql-core"} & set(have)
