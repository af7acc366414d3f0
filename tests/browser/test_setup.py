"""Set-up as a person does it: from the terminal's address through GitHub's page to "it works", in a real browser."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.simulator import Server, start_simulator
from tests.calling import free_port
from tests.waiting import LONGEST, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.processes]

ROOT = Path(__file__).parents[2]
TOO_WIDE = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture
def simulator() -> Iterator[Server]:
    with start_simulator() as server:
        server.sim.add_repository("acme/app")
        server.sim.add_user("alice")
        yield server
        assert server.sim.violations == []


@pytest.fixture
def address(simulator: Server, tmp_path: Path) -> Iterator[str]:
    """What `doppel serve` prints where nothing is set up."""
    port = free_port()
    serving = subprocess.Popen(
        [sys.executable, "-m", "bot", "serve", "--host", "127.0.0.1", "--port", str(port)],
        cwd=tmp_path,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "HOME": str(tmp_path),
            "DOPPEL_HOME": str(tmp_path / "home"),
            "GITHUB_API_URL": simulator.url,
            "WEB_CONCURRENCY": "1",
        },
        stdin=subprocess.DEVNULL,
        stderr=(tmp_path / "log").open("wb"),
    )

    def addresses() -> list[str]:
        return re.findall(r"http\S+/setup\?token=\S+", (tmp_path / "log").read_text())

    try:
        wait_until(lambda: addresses() or serving.poll() is not None)
        assert serving.poll() is None, (tmp_path / "log").read_text()
        yield addresses()[0]
    finally:
        serving.send_signal(signal.SIGTERM)
        serving.communicate(timeout=LONGEST)


def test_from_the_terminals_address_to_it_works(browser: Any, address: str, simulator: Server, tmp_path: Path) -> None:
    page = browser.new_page()
    page.goto(address)
    assert "token" not in page.url
    assert page.evaluate(TOO_WIDE) == 0
    page.get_by_label("Name").fill("Doppel for acme")
    page.get_by_label("Organization").fill("acme")
    page.get_by_role("button", name="Create the GitHub App").click()
    # On GitHub's page, which shows what the App asks for.
    page.get_by_role("heading", name="Create GitHub App for acme").wait_for()
    assert "issues: write" in page.locator("ul").inner_text()
    page.get_by_role("button", name="Create GitHub App").click()
    page.get_by_role("heading", name="The App is created").wait_for()
    assert page.get_by_text("Waiting for GitHub's first delivery").is_visible()
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Install doppel-for-acme on repositories").click()
    install = opened.value
    install.get_by_label("Where").select_option("acme/app")
    # GitHub delivers once the receiver has begun anew with the App.
    page.wait_for_function("fetch('/setup/status').then((answer) => answer.json()).then((is) => is.ready)")
    hook = simulator.sim.apps[max(simulator.sim.apps)].hook
    page.wait_for_function("fetch('/readyz').then((answer) => answer.ok)")
    assert hook.url == f"{address.split('/setup')[0]}/webhook"
    install.get_by_role("button", name="Install").click()
    install.get_by_text("is installed on acme/app").wait_for()
    page.get_by_text("It works.").wait_for()
    assert not page.get_by_text("Waiting for GitHub's first delivery").is_visible()
    assert not page.get_by_text("Nothing arrives?").is_visible()
    page.close()
    # Neither the first-run token nor a secret is in what the terminal shows from then on.
    kept = (tmp_path / "home" / "app.env").read_text()
    log = (tmp_path / "log").read_text()
    secrets = re.findall(r"(?:PRIVATE_KEY|SECRET)='([^']+)'", kept)
    assert len(secrets) == 3 and not any(secret in log for secret in secrets)
    assert log.count("token=") == 1


def test_the_form_tells_a_mistake_and_fits_a_phone(browser: Any, address: str) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 740}, color_scheme="dark")
    page.goto(address)
    page.get_by_label("Organization").fill("no/login")
    page.keyboard.press("Enter")
    assert "Organization: this is not a login" in page.get_by_role("alert").inner_text()
    assert page.get_by_label("Organization").input_value() == "no/login"
    assert page.evaluate(TOO_WIDE) == 0
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="`make test-browser` installs it")
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        assert axe.Axe().run(page).response["violations"] == []
    page.close()
