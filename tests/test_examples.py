"""The examples of docs/fusion.md and docs/library.md run as they are shown there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from bot import api
from bot.simulator import start_simulator

ROOT = Path(__file__).parent.parent


def test_fusing_chunks_prints_what_its_page_shows() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "fuse_chunks.py")], capture_output=True, text=True, check=True
    )
    page = (ROOT / "docs" / "fusion.md").read_text(encoding="utf-8")
    assert f"$ python docs/fuse_chunks.py\n{done.stdout}```" in page


LIBRARY = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")


def test_the_page_of_the_library_lists_every_name_of_the_api() -> None:
    rows = re.findall(r"^\| (`.+`) \| ", LIBRARY, re.MULTILINE)
    assert sorted(name for names in rows for name in re.findall(r"`(\w+)`", names)) == sorted(api.__all__)
    assert all(hasattr(api, name) for name in api.__all__)
    with pytest.raises(AttributeError, match="no attribute 'find'"):
        api.find


# What none of these needs: a GitHub client, a server, a database, numbers in bulk. A playbook is checked by pydantic.
HEAVY = ("requests", "httpx", "githubkit", "flask", "sqlalchemy", "numpy", "pydantic")


@pytest.mark.parametrize(
    ("name", "needed"),
    [("cross_corpus_rrf", []), ("run_deduplication", ["pydantic"]), ("dice_sorensen", []), ("ToolCallTracker", [])],
)
def test_a_name_of_the_api_loads_nothing_that_it_does_not_need(name: str, needed: list[str]) -> None:
    code = f"import sys; from bot.api import {name}; print([one for one in {HEAVY} if one in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == f"{needed}\n"


def test_the_librarys_examples_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    parts, finder = re.findall(r"```python\n(.*?)```", LIBRARY, re.DOTALL)
    exec(parts, {"__name__": __name__})
    with start_simulator() as server:
        sim = server.sim
        sim.add_repository("acme/app")
        sim.install("acme/app")
        for body in ("It says `E42`.", "Again."):
            sim.open_issue("acme/app", "ann", "Crash on login", body)
        sim.flush_index()
        monkeypatch.chdir(tmp_path)
        for name, value in {
            "APP_ID": str(server.app_id),
            "PRIVATE_KEY": server.private_key_pem,
            "GITHUB_API_URL": server.url,
            "DOPPEL_HOME": str(tmp_path),
        }.items():
            monkeypatch.setenv(name, value)
        exec(finder, {"__name__": __name__})
    assert capsys.readouterr().out == "found [1] repo:acme/app is:issue is:open in:title Crash login\n"
