"""GitHub's runner, as far as action.yml and the guide's workflow need it: expressions, steps, the cache as a folder.

https://docs.github.com/actions/reference/workflows-and-actions/expressions
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.calling import call

ROOT = Path(__file__).parents[2]
# A text, an operator that Python has too, or a path such as `github.event.sender`; functions stay as they are.
_TOKEN = re.compile(r"('(?:[^']|'')*')|(\|\||&&|!(?!=))|([A-Za-z_][\w.-]*+)(?!\()")
_INSIDE = re.compile(r"\$\{\{(.+?)\}\}", re.DOTALL)


def read_yaml(text: str) -> Any:
    """As GitHub reads it: `on` is a key there and no truth."""
    return YAML(typ="safe").load(text)


def guides_workflow(part: str = "workflow") -> str:
    """The workflow that the guide has people paste, or the `part` that it has them add."""
    guide = (ROOT / "docs/guides/action.md").read_text(encoding="utf-8")
    return re.search(rf"<!-- {part} -->\n```yml\n(.+?)```", guide, re.DOTALL)[1]  # type: ignore[index]


class Expressions:
    """Evaluates what stands in `if` and between `${{` and `}}`, in contexts that are nested mappings.

    GitHub's operators are Python's by other names, where every value is a text.
    """

    def __init__(self, contexts: Mapping[str, Any], ok: bool) -> None:
        self._contexts, self._ok = contexts, ok

    def condition(self, text: str) -> bool:
        """An `if`: without a word on the status, only while all is well."""
        return ("always()" in text or self._ok) and bool(self._value(text))

    def filled(self, text: str) -> str:
        return _INSIDE.sub(lambda found: self._value(found[1]), str(text))

    def _value(self, text: str) -> Any:
        functions = {
            "at": self._at,
            "always": lambda: True,
            "contains": lambda text, part: part.lower() in text.lower(),
            "endsWith": lambda text, part: text.lower().endswith(part.lower()),
        }
        return eval(_TOKEN.sub(self._in_python, text).strip(), functions)

    @staticmethod
    def _in_python(token: re.Match[str]) -> str:
        text, operator, path = token.groups()
        if path:
            return f"at({path!r})"
        return (
            {"||": " or ", "&&": " and ", "!": " not "}[operator] if operator else repr(text[1:-1].replace("''", "'"))
        )

    def _at(self, path: str) -> str:
        value: Any = self._contexts
        for name in path.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        return str(value or "")


@dataclass
class Ran:
    """What came of a job: its steps' outcomes by id, the action's outputs, the summary, and all that was printed."""

    ok: bool = True
    steps: dict[str, dict[str, Any]] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    summary: str = ""
    log: str = ""


def act(environ: dict[str, str]) -> tuple[int, str]:
    """`doppel action` in this process."""
    done = call("action", env=environ)
    return done.exit_code, done.output


@dataclass
class Runner:
    """Runs the guide's workflow for one repository. `cache` holds a folder for each key, the newest last.

    `program` is a folder like that which install.py makes. Without one, `act` stands for the step that starts the bot:
    it is given the environment, and returns the exit code and what was printed. To call it in this process is fastest.
    `environ` is what the workflow sets with `env`.
    """

    api: str
    repo: str
    folder: Path
    program: Path | None = None
    act: Callable[[dict[str, str]], tuple[int, str]] = act
    pages: str = "https://github.com"
    cache: list[str] = field(default_factory=list)
    artifacts: dict[str, Path] = field(default_factory=dict)
    runs: int = 0
    environ: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.workflow = read_yaml(guides_workflow())
        self.action = read_yaml((ROOT / "action.yml").read_text(encoding="utf-8"))

    def wants(self, event: str, payload: Mapping[str, Any]) -> bool:
        """Whether the workflow is started at all; nothing that its own token caused starts one."""
        types = (self.workflow["on"].get(event) or {}).get("types", ()) if event in ("issues", "issue_comment") else ()
        return payload.get("action") in types and payload["sender"]["login"] != "github-actions[bot]"

    def run(self, event: str, payload: Mapping[str, Any], token: str, *, again: bool = False) -> Ran:
        """One job on a fresh machine; `again` repeats the last run."""
        self.runs += not again
        temp = self.folder / "temp"
        shutil.rmtree(temp, ignore_errors=True)
        temp.mkdir(parents=True)
        (temp / "event.json").write_text(json.dumps(payload), encoding="utf-8")
        (temp / "summary").touch()
        github = {
            "event_name": event,
            "event": payload,
            "token": token,
            "run_id": str(self.runs),
            "run_attempt": str(1 + again),
            "server_url": self.pages,
        }
        ran = Ran()
        contexts = {
            "github": github,
            "runner": {"temp": str(temp), "os": "Linux", "arch": "X64"},
            "steps": ran.steps,
            "inputs": {
                name: Expressions({"github": github}, True).filled(one["default"])
                for name, one in self.action["inputs"].items()
            },
        }
        for at, step in enumerate(self.action["runs"]["steps"]):
            self._step(step, step.get("id", f"_{at}"), contexts, ran, temp)
        for name, one in self.action["outputs"].items():
            ran.outputs[name] = Expressions(contexts, True).filled(one["value"])
        ran.summary = (temp / "summary").read_text(encoding="utf-8")
        return ran

    def evict(self, prefix: str = "doppel-state-") -> None:
        """GitHub takes away what lies in the cache under keys that begin like this."""
        self.cache = [key for key in self.cache if not key.startswith(prefix)]

    def _step(self, step: Mapping[str, Any], name: str, contexts: Mapping[str, Any], ran: Ran, temp: Path) -> None:
        say = Expressions(contexts, ran.ok)
        state: dict[str, Any] = {"outputs": {}, "outcome": "skipped"}
        ran.steps[name] = state
        if not say.condition(step.get("if", "'yes'")):
            return
        if "uses" in step:
            given = {key: say.filled(value) for key, value in step.get("with", {}).items()}
            action, _, version = step["uses"].partition("@")
            assert re.fullmatch("[0-9a-f]{40}", version), step["uses"]
            state["outputs"], state["outcome"] = self._used(action, given), "success"
            return
        assert "${{" not in step["run"], "what is filled in there is code"
        output = temp / f"output-{name}"
        output.touch()
        environ = self._environ(contexts["github"], temp, output) | {
            key: say.filled(value) for key, value in step.get("env", {}).items()
        }
        code, said = self._ran(step["run"], environ)
        ran.log += said
        state["outcome"] = "success" if code == 0 else "failure"
        ran.ok = ran.ok and code == 0
        lines = output.read_text(encoding="utf-8").splitlines()
        state["outputs"] = dict(line.split("=", 1) for line in lines)

    def _environ(self, github: Mapping[str, Any], temp: Path, output: Path) -> dict[str, str]:
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.folder),
            "RUNNER_TEMP": str(temp),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_API_URL": self.api,
            "GITHUB_EVENT_NAME": github["event_name"],
            "GITHUB_EVENT_PATH": str(temp / "event.json"),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_REPOSITORY": self.repo,
            "GITHUB_RUN_ID": github["run_id"],
            "GITHUB_STEP_SUMMARY": str(temp / "summary"),
            # What other steps of a job may have set, and must not matter.
            "DATABASE_URL": "postgresql://nobody@localhost/none",
            "APP_ID": "1",
            **self.environ,
        }

    def _ran(self, script: str, environ: dict[str, str]) -> tuple[int, str]:
        if script.endswith("-m bot action") and self.program is None:
            return self.act(environ)
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script]
        ended = subprocess.run(command, env=environ, cwd=self.folder, capture_output=True, text=True, check=False)
        return ended.returncode, ended.stdout + ended.stderr

    def _used(self, action: str, given: Mapping[str, str]) -> dict[str, str]:
        if action == "actions/setup-python":
            return {"python-path": sys.executable, "python-version": given["python-version"]}
        path = Path(given["path"])
        if action == "actions/upload-artifact":
            if path.exists():
                kept = self.folder / "artifacts" / given["name"]
                self.artifacts[given["name"]] = shutil.copytree(path, kept, dirs_exist_ok=True)
            return {}
        kept = self.folder / "cache"
        if action == "actions/cache/save":
            if given["key"] not in self.cache and path.exists():
                shutil.copytree(path, kept / given["key"])
                self.cache.append(given["key"])
            return {}
        assert action == "actions/cache/restore"
        if path.name == "program":
            # Installed already; what install.py makes is tested apart.
            if self.program is not None:
                shutil.copytree(self.program, path, symlinks=True)
            return {"cache-hit": "true"}
        wanted = [key for key in reversed(self.cache) if key.startswith(given["restore-keys"])]
        if wanted:
            shutil.copytree(kept / wanted[0], path)
        return {"cache-hit": "false"}
