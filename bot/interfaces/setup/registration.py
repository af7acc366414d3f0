"""Registers the App: finds GitHub's addresses, makes the manifest, and writes the file with the credentials.

The file, `app.env` in the data directory, has the format of `.env`. It is ignored if the environment or `.env` sets a
variable of an App. https://docs.github.com/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
"""

from __future__ import annotations

import base64
import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from bot.domain.errors import InvalidArgument, SettingsError
from bot.github.app import NewApp
from bot.platform.addresses import ENTERPRISE_HOSTS, SERVER_PATH, is_web, site_of
from bot.platform.local import is_here
from bot.platform.private_files import make_folder, replace_file
from bot.platform.settings.loading import credentials_file

HOME_PAGE = "https://github.com/doppel-app/doppel"
DESCRIPTION = "Shows, in one calm comment, where a new issue was reported before."
# GitHub's limit for an App's name.
LONGEST_NAME = 34
# The label of the form's field `address`.
_PUBLIC_ADDRESS = "Public address of this bot"
# GitHub's rule for logins: letters and digits, with single hyphens between them.
_LOGIN = re.compile(r"[A-Za-z0-9](?:-?[A-Za-z0-9]){0,38}")


@dataclass(frozen=True, slots=True)
class GitHubServer:
    """The root addresses of GitHub's pages and of its API, without a slash at the end."""

    web: str
    api: str


@dataclass(frozen=True, slots=True)
class AppChoices:
    """A person's choices. GitHub delivers to `hook`. If `hook` is a channel like smee.io's, `proxy` equals `hook`."""

    name: str
    organization: str
    hook: str
    proxy: str = ""

    def form_action(self, server: GitHubServer, state: str) -> str:
        """Where the browser posts the manifest. Without `organization`, the person owns the App."""
        where = f"organizations/{quote(self.organization)}/settings" if self.organization else "settings"
        return f"{server.web}/{where}/apps/new?state={quote(state)}"


def github_server(web_or_api: str) -> GitHubServer:
    """Find a GitHub server's two addresses from the address of its pages or of its API. Raises InvalidArgument.

    An address of this machine that has no path is a simulator's. `bot.platform.addresses` describes the other servers.
    """
    url = web_or_api.strip().rstrip("/")
    if not is_web(url) or "@" in urlsplit(url).netloc:
        raise InvalidArgument("GitHub", "this is not an address such as https://github.com")
    parts = urlsplit(url)
    # Write the host in ASCII, as browsers do: the address is also sent in a header, which allows only ASCII.
    root = f"{parts.scheme}://{site_of(parts.netloc)}"
    host = urlsplit(root).hostname or ""
    if host in ("github.com", "www.github.com", "api.github.com"):
        return GitHubServer("https://github.com", "https://api.github.com")
    if host.endswith(ENTERPRISE_HOSTS):
        name = host.removeprefix("api.")
        return GitHubServer(f"https://{name}", f"https://api.{name}")
    if is_here(url) and not parts.path:
        return GitHubServer(root, root)
    return GitHubServer(root, f"{root}{SERVER_PATH}")


def read_choices(name: str, organization: str, address: str, channel: str, *, simulated: bool = False) -> AppChoices:
    """Check a person's entries; `simulated` allows a private address (`_is_private`). Raises InvalidArgument."""
    name, organization = name.strip(), organization.strip().removeprefix("@")
    if not 0 < len(name) <= LONGEST_NAME:
        raise InvalidArgument("Name", f"must have 1 to {LONGEST_NAME} characters")
    if organization and not _LOGIN.fullmatch(organization):
        raise InvalidArgument("Organization", "this is not a login; leave it empty to own the App yourself")
    if channel.strip():
        proxy = _address("Channel", channel, needs_path=True)
        return AppChoices(name, organization, hook=proxy, proxy=proxy)
    if not address.strip():
        raise InvalidArgument(_PUBLIC_ADDRESS, "enter an address GitHub can reach, or a channel")
    root = _address(_PUBLIC_ADDRESS, address).removesuffix("/webhook")
    if _is_private(root) and not simulated:
        raise InvalidArgument(
            _PUBLIC_ADDRESS, "GitHub cannot reach this address; enter another address, or a channel instead"
        )
    return AppChoices(name, organization, f"{root}/webhook")


def make_manifest(
    choice: AppChoices, browser_root: str, permissions: Mapping[str, str], events: Iterable[str]
) -> dict[str, Any]:
    """The manifest. GitHub sends the person back to `browser_root`, the bot's root address in the person's browser."""
    hook_root = choice.hook.removesuffix("/webhook")
    roots = [browser_root] if choice.proxy or hook_root == browser_root else [hook_root, browser_root]
    return {
        "name": choice.name,
        "url": HOME_PAGE,
        "description": DESCRIPTION,
        "public": False,
        "hook_attributes": {"url": choice.hook, "active": True},
        "redirect_url": f"{browser_root}/setup/callback",
        "callback_urls": [f"{root}/login/callback" for root in roots],
        "default_permissions": dict(permissions),
        "default_events": sorted(events),
    }


def _address(label: str, value: str, *, needs_path: bool = False) -> str:
    url = value.strip().rstrip("/")
    # Paths are appended to the bot's address. So it must not have a query or a fragment, not even a lone `?` or `#`.
    valid = is_web(url) and "@" not in urlsplit(url).netloc and "?" not in url and "#" not in url
    if not valid or (needs_path and not urlsplit(url).path):
        example = "https://smee.io/CHANNEL" if needs_path else "https://doppel.example.org"
        raise InvalidArgument(label, f"this is not an address such as {example}")
    return url


def _is_private(url: str) -> bool:
    """Whether an address belongs to this machine or a private network, judging by its text only."""
    host = urlsplit(url).hostname or ""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return host == "localhost" or "." not in host or host.endswith((".local", ".internal", ".localhost"))


# `check_writable` writes this many bytes, more than the credentials take. A full disk may still accept an empty file.
_DRAFT_BYTES = 16_384


class CannotSave(SettingsError):
    """The file cannot be written, for example because the disk is full."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """A new App, GitHub's API address, a channel's address (or ""), and the host's `mode`."""

    app: NewApp
    api_url: str
    proxy_url: str = field(default="", repr=False)
    mode: str = ""

    def variables(self) -> dict[str, str]:
        """The environment variables. The key is in base64, so that it fits on one line."""
        values = {
            "APP_ID": str(self.app.id),
            "PRIVATE_KEY": base64.b64encode(self.app.private_key.encode()).decode(),
            "WEBHOOK_SECRET": self.app.webhook_secret,
            "GITHUB_CLIENT_ID": self.app.client_id,
            "GITHUB_CLIENT_SECRET": self.app.client_secret,
            "GITHUB_API_URL": self.api_url,
            "WEBHOOK_PROXY_URL": self.proxy_url,
            "DOPPEL_MODE": self.mode,
        }
        return {name: value for name, value in values.items() if value}


def check_writable(home: Path) -> None:
    """Raise SettingsError if the file exists, and CannotSave if the file cannot be written.

    Call this before GitHub creates the App, and again before asking for the App's key. GitHub sends the key only once.
    """
    path = credentials_file(home)
    if path.exists():
        raise SettingsError(f"{path}: an App has been set up already. Move the file away to set up another.")
    draft = path.with_name(".app.env.draft")
    with _system_errors(path):
        make_folder(home)
        try:
            replace_file(draft, ["\n" * _DRAFT_BYTES])
        finally:
            draft.unlink(missing_ok=True)


def save_credentials(home: Path, credentials: Credentials) -> None:
    """Write the file atomically, with mode 0600. Raises like `check_writable`."""
    check_writable(home)
    path = credentials_file(home)
    quoted = {name: text.replace("\\", "\\\\").replace("'", "\\'") for name, text in credentials.variables().items()}
    lines = [f"{name}='{text}'\n" for name, text in quoted.items()]
    with _system_errors(path):
        replace_file(path, ["# The GitHub App of this bot. Whoever has these can act as the App.\n", *lines])


@contextmanager
def _system_errors(path: Path) -> Iterator[None]:
    """Raise CannotSave instead of the system's errors."""
    try:
        yield
    except OSError as problem:
        raise CannotSave(f"{path}: cannot be written: {problem.strerror or type(problem).__name__}.") from problem
