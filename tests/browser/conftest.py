"""Chromium and a demo to look at. Without the package `playwright` or a Chromium these tests are skipped, visibly."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.waiting import LONGEST

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium of the machine's own."""
    api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed; `make test-browser` does that"
    )
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if found is None:
        pytest.skip("there is no Chromium on this machine; Debian's package is called chromium")
    with api.sync_playwright() as playwright:
        # Chromium's sandbox refuses to run as root, as which containers do.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        # What browsers tell only this machine's own names, they keep from these.
        arguments += ["--host-resolver-rules=MAP *.example.test 127.0.0.1"]
        browser = playwright.chromium.launch(executable_path=found, args=arguments)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def demo(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the page of `doppel demo --serve`, after the show: its issues are #177 to #182."""
    home = tmp_path_factory.mktemp("demo")
    process = subprocess.Popen(
        [sys.executable, "-m", "bot", "demo", "--serve", "--json"],
        cwd=home,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        events = [json.loads(line) for line in _until_finished(process.stdout)]
        yield next(event["url"] for event in events if event["event"] == "serving")
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=LONGEST)


def _until_finished(lines: Any) -> Iterator[str]:
    for line in lines:
        yield line
        if '"event": "finished"' in line:
            return
    pytest.fail("the demo ended before its show did")


@pytest.fixture
def page(browser: Any, demo: str) -> Iterator[Any]:
    """A page on which nothing may go wrong unnoticed: no error, no failed request, nothing from elsewhere."""
    page = browser.new_page(base_url=demo)
    troubles: list[str] = []
    page.on("console", lambda said: troubles.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("dialog", lambda dialog: troubles.append(f"a dialog: {dialog.message}"))
    page.on("request", lambda sent: None if _is_ours(sent.url, demo) else troubles.append(f"asked for {sent.url}"))
    page.on("response", lambda got: troubles.append(f"{got.status} {got.url}") if got.status >= 400 else None)
    yield page
    page.close()
    assert troubles == []


def _is_ours(url: str, demo: str) -> bool:
    return url.startswith((demo, "data:"))
