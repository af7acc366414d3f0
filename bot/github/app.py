"""Requests of the App itself (installations, webhook, deliveries), and for people who sign in or create an App.

https://docs.github.com/rest/apps
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from githubkit.utils import UNSET

from bot.domain.entities import RepoRef, Repository
from bot.domain.errors import Forbidden, NotFound
from bot.github import convert
from bot.github.calls import PAGE, Api

# The most entries of a list to read.
_MOST = 100_000


@dataclass(frozen=True, slots=True)
class AppInfo:
    """The App as registered on GitHub: its permissions (such as `issues: write`) and its events."""

    slug: str
    permissions: Mapping[str, str]
    events: Sequence[str]

    @property
    def bot_login(self) -> str:
        return f"{self.slug}[bot]"


@dataclass(frozen=True, slots=True)
class Installation:
    """The App as installed on an account: the account's login, and the permissions that it has accepted."""

    id: int
    account: str
    permissions: Mapping[str, str]
    suspended: bool


REFUSED_SIGNATURE = 401
"""Our receiver's status for a delivery that was signed with another secret."""


@dataclass(frozen=True, slots=True)
class DeliveryAttempt:
    """An attempt at a delivery. `status_code` is the receiver's answer; 0 means that the receiver did not answer.

    `guid` is `X-GitHub-Delivery`, the same for all attempts. `taken` says whether GitHub calls the attempt a success.
    """

    id: int
    guid: str
    status_code: int
    delivered_at: datetime
    redelivery: bool
    taken: bool = False


class AppClient:
    """The App's own operations. Each request may raise RateLimited, Unavailable or KeyRefused."""

    def __init__(self, api: Api, api_of: Callable[[int], Api], skew: Callable[[], float | None]) -> None:
        self._api = api
        # Makes an installation's `Api` from its id.
        self._api_of = api_of
        self._skew = skew

    def get_app(self) -> AppInfo:
        data: Any = self._api.call("read the App", self._api.rest.apps.get_authenticated)
        return AppInfo(data.get("slug") or "", dict(data["permissions"]), tuple(data["events"]))

    def clock_skew(self) -> float | None:
        """Seconds that GitHub's clock is ahead; negative if behind, 0 if under 2 off. None before the first answer."""
        return self._skew()

    def installation_of(self, repo: RepoRef) -> int:
        """The id of the installation that covers a repository. Raises NotFound if the App is not installed."""
        request = partial(self._api.rest.apps.get_repo_installation, repo.owner, repo.name)
        return self._api.call(f"find the installation for {repo}", request)["id"]

    def repository(self, repo: RepoRef, repo_id: int) -> tuple[int, Repository]:
        """The id of the installation that covers a repository, and the repository's present state.

        Raises NotFound if the App is not installed there, or if the name now belongs to another
        repository. Reading a public repository does not prove that the App is installed there.
        """
        installation_id = self.installation_of(repo)
        api = self._api_of(installation_id)
        operation = f"read {repo}"
        data: Any = api.call(operation, lambda: api.rest.repos.get(repo.owner, repo.name))
        present = convert.repository(data)
        if present.id != repo_id:
            raise NotFound(operation, 404, "the name belongs to another repository now")
        return installation_id, present

    def is_installed_on(self, repo: RepoRef, repo_id: int) -> bool:
        """Whether the App is installed on a repository, even if the installation is suspended."""
        try:
            # Forbidden: the installation exists, but is suspended, so GitHub refuses its token.
            with suppress(Forbidden):
                self.repository(repo, repo_id)
        except NotFound:
            return False
        return True

    def installation(self, installation_id: int) -> Installation:
        """Raises NotFound if the installation has ended."""
        request = partial(self._api.rest.apps.get_installation, installation_id)
        data: Any = self._api.call(f"read installation {installation_id}", request)
        return _installation(data)

    def installations(self) -> list[Installation]:
        listed = self._api.pages("list the installations", self._api.rest.apps.list_installations, most=_MOST)
        return [_installation(data) for data in listed]

    def repositories(self, installation_id: int) -> list[Repository]:
        api = self._api_of(installation_id)
        listed = api.pages(
            f"list the repositories of installation {installation_id}",
            api.rest.apps.list_repos_accessible_to_installation,
            most=_MOST,
            within="repositories",
        )
        return [convert.repository(data) for data in listed]

    def hook_url(self) -> str:
        """The address to which GitHub delivers events; empty if none is set."""
        data: Any = self._api.call("read the webhook's settings", self._api.rest.apps.get_webhook_config_for_app)
        return data.get("url") or ""

    def set_hook_url(self, url: str) -> None:
        request = partial(self._api.rest.apps.update_webhook_config_for_app, url=url, content_type="json")
        self._api.call("change the webhook's settings", request)

    def deliveries(self, *, failed: bool = False, most: int = 1_000) -> Iterator[DeliveryAttempt]:
        """Yield up to `most` attempts of the last three days (Enterprise: seven), newest first. Reads pages on demand.

        With `failed`, yield only failed attempts.
        """
        operation, cursor = "list the deliveries", None
        while most > 0:
            request = partial(
                self._api.rest.apps.list_webhook_deliveries,
                per_page=min(PAGE, most),
                cursor=UNSET if cursor is None else cursor,
                status="failure" if failed else UNSET,
            )
            response = self._api.send(operation, request)
            for data in self._api.read(operation, response):
                most -= 1
                yield DeliveryAttempt(
                    id=data["id"],
                    guid=data["guid"],
                    status_code=data["status_code"],
                    delivered_at=convert.moment(data["delivered_at"]),
                    redelivery=data["redelivery"],
                    taken=data["status"] == "OK",
                )
            following = response.raw_response.links.get("next", {}).get("url", "")
            cursor = parse_qs(urlsplit(following).query).get("cursor", [None])[0]
            if cursor is None:
                return

    def redeliver(self, attempt_id: int) -> None:
        """Ask GitHub to repeat the attempt with this `id`. The delivery keeps its `X-GitHub-Delivery`."""
        request = partial(self._api.rest.apps.redeliver_webhook_delivery, attempt_id)
        self._api.send(f"redeliver {attempt_id}", request)


def _installation(data: Mapping[str, Any]) -> Installation:
    account = data.get("account") or {}
    return Installation(
        id=data["id"],
        # An enterprise has a slug instead of a login.
        account=account.get("login") or account.get("slug") or "",
        permissions=dict(data["permissions"]),
        suspended=data.get("suspended_at") is not None,
    )


# Read at most this many installations of a person, and this many repositories of each.
_MOST_INSTALLATIONS, _MOST_REPOSITORIES = 20, 300


class VisitorClient:
    """Asks GitHub with the token of a person who signs in. The caller does not store the token."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def login(self) -> str:
        return str(self._api.call("read the visitor's login", self._api.rest.users.get_authenticated)["login"])

    def repositories_to_triage(self) -> Iterator[int]:
        """The ids of the repositories that have the App and in which the person may triage."""
        rest = self._api.rest.apps
        first = self._api.call(
            "list the visitor's installations",
            partial(rest.list_installations_for_authenticated_user, per_page=_MOST_INSTALLATIONS),
        )
        for installation in first["installations"]:
            listed = self._api.pages(
                "list the visitor's repositories",
                partial(rest.list_installation_repos_for_authenticated_user, installation["id"]),
                most=_MOST_REPOSITORIES,
                within="repositories",
            )
            yield from (data["id"] for data in listed if (data.get("permissions") or {}).get("triage"))


@dataclass(frozen=True, slots=True)
class NewApp:
    """A new App with its secrets, which GitHub reveals only once."""

    id: int
    slug: str
    private_key: str = field(repr=False)
    webhook_secret: str = field(repr=False)
    client_id: str
    client_secret: str = field(repr=False)


def convert_manifest(api: Api, code: str) -> NewApp:
    """Exchange the code for an App's secrets. Raises NotFound if the code was used before, or is over an hour old."""
    data = api.call("exchange the manifest's code", partial(api.rest.apps.create_from_manifest, quote(code, safe="")))
    return NewApp(
        id=data["id"],
        slug=data["slug"],
        private_key=data["pem"],
        webhook_secret=data["webhook_secret"] or "",
        client_id=data["client_id"],
        client_secret=data["client_secret"],
    )
