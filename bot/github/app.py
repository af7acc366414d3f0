"""What only the App itself may do (installations, webhook, deliveries), and what people do who sign in or create one.

https://docs.github.com/rest/apps
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Literal
from urllib.parse import parse_qs, quote, urlsplit

from githubkit.utils import UNSET

from bot.domain.entities import RepoRef, Repository
from bot.domain.errors import Forbidden, NotFound
from bot.github import convert
from bot.github.calls import PAGE, Api

_MOST = 100_000


@dataclass(frozen=True, slots=True)
class AppInfo:
    """The App as GitHub knows it: its permissions (`issues: write`) and the events that it gets."""

    slug: str
    permissions: Mapping[str, str]
    events: Sequence[str]

    @property
    def bot_login(self) -> str:
        """The login of the App's comments."""
        return f"{self.slug}[bot]"


@dataclass(frozen=True, slots=True)
class Installation:
    """One account that has installed the App, with the permissions that it has accepted so far."""

    id: int
    account: str
    permissions: Mapping[str, str]
    suspended: bool


REFUSED_SIGNATURE = 401
"""Our receiver's answer to a delivery that was signed with another secret."""


@dataclass(frozen=True, slots=True)
class DeliveryAttempt:
    """One attempt at a delivery. `guid` is `X-GitHub-Delivery`, the same each time; `status_code` 0 means no answer.

    `taken` is GitHub's status `OK`: the receiver answered well.
    """

    id: int
    guid: str
    status_code: int
    delivered_at: datetime
    redelivery: bool
    taken: bool = False


class AppClient:
    """The App's own operations. All raise KeyRefused if id and key do not match, RateLimited and Unavailable."""

    def __init__(self, api: Api, api_of: Callable[[int], Api], skew: Callable[[], float | None]) -> None:
        self._api = api
        self._api_of = api_of
        self._skew = skew

    def get_app(self) -> AppInfo:
        data: Any = self._api.call("read the App", self._api.rest.apps.get_authenticated)
        return AppInfo(data.get("slug") or "", dict(data["permissions"]), tuple(data["events"]))

    def clock_skew(self) -> float | None:
        """Seconds by which GitHub's clock is ahead of ours, 0 if below two; None before the first answer."""
        return self._skew()

    def installation_of(self, repo: RepoRef) -> int:
        """The id of the installation that covers a repository. Raises NotFound if the App is not installed."""
        request = partial(self._api.rest.apps.get_repo_installation, repo.owner, repo.name)
        return self._api.call(f"find the installation for {repo}", request)["id"]

    def repository(self, repo: RepoRef, repo_id: int) -> tuple[int, Repository]:
        """A repository's present installation and state.

        Raises NotFound if the App is not installed on it, or another repository has its name by now. (It asks for the
        installation, since everybody can read a public repository.)
        """
        installation_id = self.installation_of(repo)
        api = self._api_of(installation_id)
        operation = f"read {repo}"
        data: Any = api.call(operation, lambda: api.rest.repos.get(repo.owner, repo.name))
        found = convert.repository(data)
        if found.id != repo_id:
            raise NotFound(operation, 404, "the name belongs to another repository now")
        return installation_id, found

    def is_installed_on(self, repo: RepoRef, repo_id: int) -> bool:
        """Whether the App is installed on a repository, even if access to it is suspended."""
        try:
            # Forbidden means that access is suspended: the App may always ask which installation has a repository.
            with suppress(Forbidden):
                self.repository(repo, repo_id)
        except NotFound:
            return False
        return True

    def installation(self, installation_id: int) -> Installation:
        """One installation. Raises NotFound if it has ended."""
        request = partial(self._api.rest.apps.get_installation, installation_id)
        data: Any = self._api.call(f"read installation {installation_id}", request)
        return _installation(data)

    def installations(self) -> list[Installation]:
        listed = self._api.pages("list the installations", self._api.rest.apps.list_installations, most=_MOST)
        return [_installation(data) for data in listed]

    def repositories(self, installation_id: int) -> list[Repository]:
        """The repositories that an installation covers."""
        api = self._api_of(installation_id)
        listed = api.pages(
            f"list the repositories of installation {installation_id}",
            api.rest.apps.list_repos_accessible_to_installation,
            most=_MOST,
            within="repositories",
        )
        return [convert.repository(data) for data in listed]

    def hook_url(self) -> str:
        """The address to which GitHub delivers events; empty if there is none."""
        data: Any = self._api.call("read the webhook's settings", self._api.rest.apps.get_webhook_config_for_app)
        return data.get("url") or ""

    def set_hook_url(self, url: str) -> None:
        request = partial(self._api.rest.apps.update_webhook_config_for_app, url=url, content_type="json")
        self._api.call("change the webhook's settings", request)

    def deliveries(
        self, *, status: Literal["success", "failure"] | None = None, most: int = 1_000
    ) -> Iterator[DeliveryAttempt]:
        """The attempts of the last three days (Enterprise: seven), newest first, page by page as they are used."""
        operation, cursor = "list the deliveries", None
        while most > 0:
            request = partial(
                self._api.rest.apps.list_webhook_deliveries,
                per_page=min(PAGE, most),
                cursor=UNSET if cursor is None else cursor,
                status=UNSET if status is None else status,
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
            cursor = next(iter(parse_qs(urlsplit(following).query).get("cursor", ())), None)
            if cursor is None:
                return

    def redeliver(self, delivery_id: int) -> None:
        """Ask for another attempt at a delivery; it keeps its `X-GitHub-Delivery`."""
        request = partial(self._api.rest.apps.redeliver_webhook_delivery, delivery_id)
        self._api.send(f"redeliver {delivery_id}", request)


def _installation(data: Mapping[str, Any]) -> Installation:
    account = data.get("account") or {}
    return Installation(
        id=data["id"],
        # An enterprise has a slug instead of a login.
        account=account.get("login") or account.get("slug") or "",
        permissions=dict(data["permissions"]),
        suspended=data.get("suspended_at") is not None,
    )


# A person who looks after more sees only the first ones.
_MOST_INSTALLATIONS, _MOST_REPOSITORIES = 20, 300


class VisitorClient:
    """Asks with one person's token, which is then forgotten."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def login(self) -> str:
        return str(self._api.call("read who signs in", self._api.rest.users.get_authenticated)["login"])

    def repositories_to_triage(self) -> Iterator[int]:
        """The ids of the App's repositories in which the person may triage."""
        rest = self._api.rest.apps
        first = self._api.call(
            "list the installations of who signs in",
            partial(rest.list_installations_for_authenticated_user, per_page=_MOST_INSTALLATIONS),
        )
        for installation in first["installations"]:
            listed = self._api.pages(
                "list the repositories of who signs in",
                partial(rest.list_installation_repos_for_authenticated_user, installation["id"]),
                most=_MOST_REPOSITORIES,
                within="repositories",
            )
            yield from (one["id"] for one in listed if (one.get("permissions") or {}).get("triage"))


@dataclass(frozen=True, slots=True)
class NewApp:
    """A new App with its secrets, which GitHub tells only once."""

    id: int
    slug: str
    private_key: str = field(repr=False)
    webhook_secret: str = field(repr=False)
    client_id: str
    client_secret: str = field(repr=False)


def convert_manifest(api: Api, code: str) -> NewApp:
    """Exchange the code that GitHub gave a new App's maker; works once, within the hour. Raises NotFound otherwise."""
    made = api.call("exchange the manifest's code", partial(api.rest.apps.create_from_manifest, quote(code, safe="")))
    return NewApp(
        id=made["id"],
        slug=made["slug"],
        private_key=made["pem"],
        webhook_secret=made["webhook_secret"] or "",
        client_id=made["client_id"],
        client_secret=made["client_secret"],
    )
