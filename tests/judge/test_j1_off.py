"""J1: a host without a judge pays nothing for it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bot.app.wiring.clients import build_endpoint
from bot.domain.errors import SettingsError
from bot.domain.report import Report, SearchOutcome
from bot.platform.settings import load
from tests.render.samples import candidate

LOADED = """
import sys
import bot.app.cli, bot.app.cli.evaluate, bot.app.cli.find, bot.app.wiring.worker_process
import bot.interfaces.mcp.tools, bot.web, handlers
from bot.platform.settings import load
from bot.app.wiring.clients import build_endpoint
assert build_endpoint(load({"DOPPEL_HOME": "/nowhere"})) is None
ours = ("openai.", "anthropic.", "bot.search.judge.")
print([name for name in sys.modules if f"{name}.".startswith(ours)])
"""


@pytest.mark.processes
def test_j1_nothing_of_the_judge_is_loaded_where_none_is_named() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr


def test_j1_the_public_shape_of_a_report_is_as_without() -> None:
    (told,) = Report("acme/app", 2, "It crashes", SearchOutcome.FOUND, (candidate(1, "Crash"),), "", ()).to_json()[
        "candidates"
    ]
    assert not {"verdict", "unjudged"} & set(told)


def test_j1_half_a_judge_is_a_mistake_that_is_told() -> None:
    with pytest.raises(SettingsError, match="DOPPEL_JUDGE_MODEL: not set"):
        build_endpoint(load({"DOPPEL_HOME": "/nowhere", "DOPPEL_JUDGE_URL": "http://127.0.0.1:1/v1"}))
