"""What pages that are open in a browser on the simulator's machine can do with it: its issues may be real ones."""

from __future__ import annotations

import json

import pytest
import requests

from bot.simulator import Server, Simulator, serve
from tests.simulator.conftest import Api

MANIFEST = json.dumps(
    {
        "name": "Thief",
        "url": "http://evil.example",
        "redirect_url": "http://evil.example/back",
        "hook_attributes": {"url": "http://evil.example/hook"},
        "default_permissions": {"issues": "read"},
        "default_events": ["issues"],
    }
)
ELSEWHERE: list[dict[str, str]] = [
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Origin": "http://evil.example"},
    {"Origin": "http://127.0.0.1:1"},
    {"Origin": "null"},
]


def post(server: Server, path: str, form: dict[str, str], headers: dict[str, str]) -> requests.Response:
    return requests.post(f"{server.url}{path}", data=form, headers=headers, allow_redirects=False, timeout=60)


@pytest.mark.parametrize("headers", ELSEWHERE, ids=str)
def test_another_sites_page_can_show_a_manifest_and_answer_nothing(
    server: Server, sim: Simulator, headers: dict[str, str]
) -> None:
    before = set(sim.apps), set(sim.installations)
    sim.app.callback_urls = ("http://evil.example/back",)
    shown = post(server, "/settings/apps/new", {"manifest": MANIFEST}, headers)
    assert shown.status_code == 200 and "http://evil.example/hook" in shown.text
    assert shown.headers["X-Frame-Options"] == "deny"
    for path, form in (
        ("/settings/apps/new", {"manifest": MANIFEST, "name": "Thief", "login": "ada"}),
        ("/organizations/acme/settings/apps/new", {"manifest": MANIFEST, "name": "Thief", "login": "ada"}),
        (f"/apps/{sim.app.slug}/installations/new", {"target": "acme"}),
        (f"/login/oauth/authorize?client_id={sim.app.client_id}", {"login": "ada"}),
    ):
        answer = post(server, path, form, headers)
        assert (answer.status_code, answer.headers.get("Location")) == (403, None), path
    assert (set(sim.apps), set(sim.installations)) == before


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("says_site", [True, False])
def test_its_own_pages_can(server: Server, sim: Simulator, name: str, says_site: bool) -> None:
    own = server.url.replace("127.0.0.1", name)
    headers = {"Host": own.removeprefix("http://"), "Origin": own}
    headers |= {"Sec-Fetch-Site": "same-origin"} if says_site else {}
    form = {"manifest": MANIFEST, "name": "Thief", "login": "ada"}
    back = post(server, "/settings/apps/new?state=s", form, headers).headers["Location"]
    assert back.startswith("http://evil.example/back?code=") and back.endswith("&state=s")
    assert post(server, f"/apps/{sim.app.slug}/installations/new", {"target": "acme"}, headers).status_code == 200


@pytest.mark.parametrize("name", ["Doppel", "doppel!", " Doppel ", "!"])
def test_no_two_apps_share_a_bot(server: Server, sim: Simulator, name: str) -> None:
    form = {"manifest": MANIFEST, "name": name, "login": "ada"}
    answer = post(server, "/settings/apps/new", form, {})
    assert (answer.status_code, "Name is already in use" in answer.text) == (422, True)
    assert sim.app.bot.app_id == sim.app.id


@pytest.mark.parametrize(
    "wrong",
    [
        {"default_permissions": "issues"},
        {"default_permissions": {"issues": "own"}},
        {"default_permissions": {"issues": []}},
        {"default_events": 5},
        {"hook_attributes": "http://evil.example/hook"},
        {"callback_urls": 1},
        {"name": ["Thief"]},
        {"redirect_url": 5},
        {"redirect_url": ""},
    ],
    ids=str,
)
def test_a_manifest_of_another_shape_is_refused_before_anybody_agrees(server: Server, wrong: dict[str, object]) -> None:
    manifest = json.dumps({**json.loads(MANIFEST), **wrong})
    answer = post(server, "/settings/apps/new", {"manifest": manifest, "name": "Thief", "login": "ada"}, {})
    assert (answer.status_code, "Invalid GitHub App configuration" in answer.text) == (422, True)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "[", "[::2]", ""])
def test_by_a_name_that_was_made_to_lead_here_it_cannot_be_read(server: Server, sim: Simulator, host: str) -> None:
    sim.open_issue("acme/app", "ada", "A plan that nobody may know")
    for path in ("/repos/acme/app/issues", "/api/v3/repos/acme/app/issues", f"/apps/{sim.app.slug}/installations/new"):
        answer = requests.get(server.url + path, headers={"Host": host}, timeout=60)
        assert answer.status_code == 403 and "plan" not in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:1", "LOCALHOST", "[::1]:8080"])
def test_this_machines_own_names_are_good(server: Server, host: str) -> None:
    assert Api(server.url).get("/repos/acme/app", headers={"Host": host}).status_code == 200


def test_who_listens_on_all_addresses_is_asked_by_any_name() -> None:
    """A container, for example, by the name that the others know it by."""
    server = serve(Simulator(), host="0.0.0.0")
    url = server.url.replace("0.0.0.0", "127.0.0.1")
    try:
        assert requests.get(url, headers={"Host": "simulator:8080"}, timeout=60).status_code == 200
    finally:
        server.stop()
