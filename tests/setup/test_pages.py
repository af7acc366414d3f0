"""The set-up pages through the web application's front door, with the simulated GitHub behind them."""

from __future__ import annotations

import errno
import html
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from flask.testing import FlaskClient

from bot.platform.settings import Settings, load
from bot.platform.settings.loading import credentials_file
from bot.simulator import Server, start_simulator
from bot.web import create_app

TOKEN = "the-first-run-token"
FORM = {"name": "Doppel for acme", "organization": "acme", "channel": ""}


@pytest.fixture
def simulator() -> Iterator[Server]:
    with start_simulator() as server:
        server.sim.add_repository("acme/app")
        yield server
        assert server.sim.violations == []


@pytest.fixture
def settings(simulator: Server, tmp_path: Path) -> Settings:
    environ = {"DOPPEL_HOME": str(tmp_path), "DOPPEL_SETUP_TOKEN": TOKEN, "GITHUB_API_URL": simulator.url}
    return load(environ, tmp_path / "no.env")


@pytest.fixture
def browser(settings: Settings) -> FlaskClient:
    """Somebody who has opened the address that the terminal shows."""
    browser = create_app(settings).test_client()
    answer = browser.get(f"/setup?token={TOKEN}")
    assert (answer.status_code, answer.location) == (302, "/setup")
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie and "Path=/setup" in cookie
    return browser


def submit(browser: FlaskClient, simulator: Server, **changes: str) -> Any:
    form = FORM | {"address": "http://127.0.0.1:3000", "github": simulator.url} | changes
    return browser.post("/setup", data=form)


def leave(answer: Any) -> tuple[str, dict[str, Any]]:
    """Where the page posts the manifest, and the manifest."""
    found = dict(re.findall(r'(action|value)="([^"]+)"', answer.text))
    return html.unescape(found["action"]), json.loads(html.unescape(found["value"]))


def come_back(answer: Any, simulator: Server) -> str:
    """What GitHub sends the browser back with after somebody has agreed."""
    action, manifest = leave(answer)
    state = parse_qs(urlsplit(action).query)["state"][0]
    code = simulator.sim.manifest_code(manifest, simulator.sim.add_organization("acme"))
    return f"/setup/callback?code={code}&state={state}"


def test_without_the_token_there_is_nothing_to_see(settings: Settings) -> None:
    stranger = create_app(settings).test_client()
    for path in ("/setup", "/setup?token=guessed", "/setup/callback?code=1&state=2", "/setup/done", "/setup/status"):
        answer = stranger.get(path)
        assert answer.status_code == 403, path
        assert "first-run token" in answer.text
    assert stranger.post("/setup", data=FORM).status_code == 403
    assert stranger.get("/dashboard").location == "/setup", "it is there once the App is"
    assert TOKEN not in stranger.get("/setup").text


@pytest.mark.parametrize("file", [None, "", "APP_ID=1\n"])
def test_until_there_is_an_app_nothing_is_taken_and_the_front_page_leads_here(
    file: str | None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOPPEL_HOME", str(settings.home))
    if file is not None:
        credentials_file(settings.home).write_text(file)
    client = create_app(settings).test_client()
    assert client.get("/").location == "/setup"
    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 503
    assert client.post("/webhook", data=b"{}").status_code == 503


def test_from_the_form_to_the_stored_app(browser: FlaskClient, simulator: Server, tmp_path: Path) -> None:
    asked = submit(browser, simulator)
    action, manifest = leave(asked)
    assert action.startswith(f"{simulator.url}/organizations/acme/settings/apps/new?state=")
    assert manifest["hook_attributes"] == {"url": "http://127.0.0.1:3000/webhook", "active": True}
    # The page may post to that GitHub and nowhere else.
    assert f"form-action {simulator.url};" in asked.headers["Content-Security-Policy"]
    done = browser.get(come_back(asked, simulator))
    assert done.status_code == 200
    app = simulator.sim.apps[max(simulator.sim.apps)]
    assert f'href="{simulator.url}/apps/{app.slug}/installations/new"' in done.text
    kept = load({"DOPPEL_HOME": str(tmp_path)}, tmp_path / "no.env").require_app()
    assert (kept.app_id, kept.webhook_secrets, kept.client_secret) == (app.id, (app.hook.secret,), app.client_secret)
    assert kept.private_key.strip() == app.private_key.strip()
    # Nothing of it is on the page.
    secret = (app.hook.secret, app.client_secret, app.private_key.splitlines()[1])
    assert not any(one in done.text for one in secret)


@pytest.mark.parametrize(
    ("changes", "mode", "says"),
    [({}, "comment", "It comments from now on"), ({"watch": "on"}, "shadow", "The bot posts nothing unasked")],
)
def test_whoever_sets_it_up_can_have_it_watch_first(
    browser: FlaskClient, simulator: Server, tmp_path: Path, changes: dict[str, str], mode: str, says: str
) -> None:
    assert "Otherwise it comments on new issues" in browser.get("/setup").text
    done = browser.get(come_back(submit(browser, simulator, **changes), simulator))
    kept = load({"DOPPEL_HOME": str(tmp_path), "DOPPEL_SETUP_TOKEN": TOKEN}, tmp_path / "no.env")
    later = create_app(kept).test_client()
    later.get(f"/setup?token={TOKEN}")
    assert kept.mode == mode
    for page in (done, later.get("/setup/done")):
        assert says in page.text
        assert 'href="/dashboard"' in page.text


def test_e1_a_host_that_keeps_no_files_is_given_the_variables(
    settings: Settings, simulator: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DYNO", "web.1")
    browser = create_app(settings).test_client()
    browser.get(f"/setup?token={TOKEN}")
    copied = browser.get(come_back(submit(browser, simulator, watch="on"), simulator))
    app = simulator.sim.apps[max(simulator.sim.apps)]
    given = dict(re.findall(r"^  ([A-Z_]+)='(.+?)'", copied.text, re.M))
    assert load(given, tmp_path / "no.env").require_app().app_id == app.id
    assert given["DOPPEL_MODE"] == "shadow"
    assert copied.headers["Cache-Control"] == "no-store"
    assert not credentials_file(tmp_path).exists()


@pytest.mark.slow
def test_the_receiver_with_the_app_says_whether_github_delivers(
    browser: FlaskClient, simulator: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that served the set-up page takes deliveries at once, without a restart."""
    for name, value in {"DOPPEL_HOME": tmp_path, "DOPPEL_SETUP_TOKEN": TOKEN, "GITHUB_API_URL": simulator.url}.items():
        monkeypatch.setenv(name, str(value))
    browser.get(come_back(submit(browser, simulator), simulator))
    assert browser.get("/setup").location == "/setup/done"
    assert "Waiting for GitHub's first delivery" in browser.get("/setup/done").text
    assert browser.get("/setup/status").json == {"ready": True, "arrived": False}
    app = simulator.sim.apps[max(simulator.sim.apps)]

    def post(url: str, body: bytes, headers: Any) -> tuple[int, dict[str, str], str]:
        answer = browser.post("/webhook", data=body, headers=dict(headers))
        return answer.status_code, dict(answer.headers), answer.text

    simulator.sim.webhooks.post = post
    app.hook.url = "http://127.0.0.1:3000/webhook"
    simulator.sim.install("acme", app_id=app.id)
    simulator.sim.webhooks.join()
    assert browser.get("/setup/status").json == {"ready": True, "arrived": True}
    # Nobody makes a second App of it.
    assert browser.post("/setup", data=FORM).location == "/setup/done"
    assert browser.get("/setup/callback?code=1&state=2").location == "/setup/done"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"address": "nowhere"}, "Public address of this bot: this is not an address"),
        (
            {"github": "https://e.com;script-src *", "address": "https://doppel.acme.org"},
            "GitHub: this is not an address",
        ),
    ],
)
def test_a_mistake_is_told_beside_what_was_entered(
    browser: FlaskClient, simulator: Server, changes: dict[str, str], problem: str
) -> None:
    answer = submit(browser, simulator, **changes)
    assert answer.status_code == 422
    assert problem in html.unescape(answer.text)
    assert 'value="acme"' in answer.text


def test_a_github_whose_name_has_letters_of_another_script_is_led_to(browser: FlaskClient, simulator: Server) -> None:
    """The name stands in a header, and web servers send none with such letters: they answered 500."""
    asked = submit(browser, simulator, github="https://例え.jp", address="https://doppel.acme.org")
    assert asked.status_code == 200
    assert leave(asked)[0].startswith("https://xn--r8jz45g.jp/organizations/acme/settings/apps/new?state=")
    assert asked.headers["Content-Security-Policy"].isascii()
    assert "form-action https://xn--r8jz45g.jp;" in asked.headers["Content-Security-Policy"]


def test_what_was_entered_cannot_become_markup(browser: FlaskClient, simulator: Server) -> None:
    answer = submit(browser, simulator, name='"><script>alert(1)</script>' + "x" * 20)
    assert answer.status_code == 422
    assert "<script>alert" not in answer.text


def test_a_return_that_did_not_begin_here_is_refused(
    browser: FlaskClient, simulator: Server, tmp_path: Path, settings: Settings
) -> None:
    back = come_back(submit(browser, simulator), simulator)
    assert browser.get(back.replace("state=", "state=x")).status_code == 400
    other = create_app(settings.model_copy(update={"setup_token": "another-run"})).test_client()
    other.get("/setup?token=another-run")
    assert other.get(back).status_code == 400
    assert not credentials_file(tmp_path).exists()


def test_a_code_that_github_does_not_know_is_told(browser: FlaskClient, simulator: Server, tmp_path: Path) -> None:
    back = come_back(submit(browser, simulator), simulator)
    answer = browser.get(re.sub("code=[0-9a-f]+", "code=ffff", back))
    assert answer.status_code == 502
    assert "GitHub did not hand over the App" in answer.text
    assert not credentials_file(tmp_path).exists()


def no_room(*_: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_where_the_key_could_not_be_kept_no_app_is_created(
    browser: FlaskClient, simulator: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", no_room)
        answer = submit(browser, simulator)
        assert answer.status_code == 422
        assert "app.env: cannot be written: No space left on device." in answer.text
    assert submit(browser, simulator).status_code == 200


def test_an_app_that_cannot_be_kept_waits_until_it_can(
    browser: FlaskClient, simulator: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    back = come_back(submit(browser, simulator), simulator)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", no_room)
        answer = browser.get(back)
        assert answer.status_code == 500
        assert "No space left on device. Mend that, and load this page again" in answer.text
    assert not any(path.name.startswith(".app") for path in tmp_path.iterdir())
    assert browser.get(back).status_code == 200
    assert load({"DOPPEL_HOME": str(tmp_path)}, tmp_path / "no.env").require_app()


def test_another_sites_page_cannot_submit_the_form(browser: FlaskClient, simulator: Server) -> None:
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://localhost:8080"}, {"Origin": "null"}):
        assert browser.post("/setup", data=FORM, headers=headers).status_code == 403


def test_the_pages_keep_to_themselves(browser: FlaskClient) -> None:
    answer = browser.get("/setup")
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Referrer-Policy"] == "same-origin"
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    assert browser.get("/static/style.css").status_code == 200
