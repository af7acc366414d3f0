"""What the set-up page sends to GitHub, and where: pure."""

from __future__ import annotations

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from bot.app.wiring import manifest
from bot.domain.errors import InvalidArgument
from bot.interfaces.setup.registration import GitHubServer, github_server, make_manifest, read_choices
from bot.platform.addresses import is_web

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("entered", "web", "api"),
    [
        ("https://github.com", "https://github.com", "https://api.github.com"),
        ("https://api.github.com/", "https://github.com", "https://api.github.com"),
        ("https://git.example.org", "https://git.example.org", "https://git.example.org/api/v3"),
        ("https://git.example.org/api/v3", "https://git.example.org", "https://git.example.org/api/v3"),
        ("https://octo.ghe.com", "https://octo.ghe.com", "https://api.octo.ghe.com"),
        ("https://api.octo.ghe.com", "https://octo.ghe.com", "https://api.octo.ghe.com"),
        ("http://127.0.0.1:4000", "http://127.0.0.1:4000", "http://127.0.0.1:4000"),
        ("https://例え.jp:8443", "https://xn--r8jz45g.jp:8443", "https://xn--r8jz45g.jp:8443/api/v3"),
    ],
)
def test_a_github_is_known_by_its_pages_or_its_api(entered: str, web: str, api: str) -> None:
    assert github_server(entered) == GitHubServer(web, api)


NO_HOSTS = ("e.com;script-src *", "e.com,https:", "e.com 'unsafe-inline'", "e.com\\x", "e.com<b>", "*", "e.com:99999")


@pytest.mark.parametrize(
    "entered",
    ["", "github.com", "ftp://github.com", "https://me:pw@github.com", "https://[::1", "https://例え..jp"]
    + [f"https://{host}" for host in NO_HOSTS],
)
def test_what_is_no_address_of_a_github_is_refused(entered: str) -> None:
    with pytest.raises(InvalidArgument, match="GitHub: this is not an address"):
        github_server(entered)


@pytest.mark.parametrize("host", NO_HOSTS)
def test_what_is_no_host_is_refused_in_every_address(host: str) -> None:
    assert not is_web(f"https://{host}")
    with pytest.raises(InvalidArgument, match="Public address of this bot: this is not an address"):
        read_choices("Doppel", "", f"https://{host}", "")
    with pytest.raises(InvalidArgument, match="Channel: this is not an address"):
        read_choices("Doppel", "", "", f"https://{host}/channel")


def test_the_manifest_is_that_of_app_yml_with_this_hosts_addresses() -> None:
    choice = read_choices("Doppel for acme", "acme", "https://doppel.acme.org/", "")
    made = make_manifest(choice, "https://doppel.acme.org", manifest.permissions(), manifest.events())
    file = YAML(typ="safe").load(ROOT / "app.yml")
    assert made == {
        "name": "Doppel for acme",
        "url": file["url"],
        "description": file["description"],
        "public": file["public"],
        "hook_attributes": {"url": "https://doppel.acme.org/webhook", "active": True},
        "redirect_url": "https://doppel.acme.org/setup/callback",
        "callback_urls": ["https://doppel.acme.org/login/callback"],
        "default_permissions": file["default_permissions"],
        "default_events": sorted(file["default_events"]),
    }
    place = github_server("https://github.com")
    assert choice.form_action(place, "a b") == "https://github.com/organizations/acme/settings/apps/new?state=a%20b"
    own = read_choices("Doppel", "", "https://doppel.acme.org", "")
    assert own.form_action(place, "s") == "https://github.com/settings/apps/new?state=s"


def test_github_delivers_to_a_channel_where_there_is_no_public_address() -> None:
    choice = read_choices("Doppel", "", "", "https://smee.io/abc")
    assert (choice.hook, choice.proxy) == ("https://smee.io/abc", "https://smee.io/abc")
    made = make_manifest(choice, "http://127.0.0.1:3000", {}, ())
    # The browser of who sets it up reaches this machine, whatever GitHub does.
    assert made["redirect_url"] == "http://127.0.0.1:3000/setup/callback"
    assert made["callback_urls"] == ["http://127.0.0.1:3000/login/callback"]


@pytest.mark.parametrize(
    ("name", "organization", "address", "channel", "problem"),
    [
        ("", "", "https://a.org", "", "Name: must have 1 to 34"),
        ("x" * 35, "", "https://a.org", "", "Name: must have 1 to 34"),
        ("Doppel", "a/../b", "https://a.org", "", "Organization: this is not a login"),
        ("Doppel", "", "", "", "Public address of this bot: enter an address GitHub can"),
        ("Doppel", "", "javascript:alert(1)", "", "Public address of this bot: this is not an address"),
        ("Doppel", "", "https://me:pw@a.org", "", "Public address of this bot: this is not an address"),
        ("Doppel", "", "https://a.org/setup#", "", "Public address of this bot: this is not an address"),
        ("Doppel", "", "https://a.org/#/bot", "", "Public address of this bot: this is not an address"),
        ("Doppel", "", "https://a.org/?", "", "Public address of this bot: this is not an address"),
        ("Doppel", "", "http://127.0.0.1:3000", "", "Public address of this bot: GitHub cannot reach this address"),
        ("Doppel", "", "http://localhost:3000", "", "Public address of this bot: GitHub cannot reach this address"),
        ("Doppel", "", "http://192.168.1.4", "", "Public address of this bot: GitHub cannot reach this address"),
        ("Doppel", "", "", "https://smee.io", "Channel: this is not an address such as https://smee.io/CHANNEL"),
    ],
)
def test_what_cannot_work_is_told_before_anything_goes_to_github(
    name: str, organization: str, address: str, channel: str, problem: str
) -> None:
    with pytest.raises(InvalidArgument, match=problem):
        read_choices(name, organization, address, channel)
