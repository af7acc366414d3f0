"""What only the App itself may ask and do: who it is, where it is installed, its webhook and what was delivered.

https://docs.github.com/rest/apps
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

from githubkit.utils import UNSET

from bot.errors import Forbidden, NotFound
from bot.github.api import convert
from bot.github.api.calls import PAGE, Api
from bot.model import RepoRef, Repository

_MOST = 100_000


@dataclass(frozen=True, slots=True)
class AppInfo:
    """The App as GitHub knows it: what it was granted (`issues: write`) and which events it gets."""

    slug: str
    permissions: Mapping[str, str]
    events: Sequence[str]

    @property
    def bot_login(self) -> str:
        """The login under which the App comments."""
        return f"{self.slug}[bot]"


@dataclass(frozen=True, slots=True)
class Installation:
    """One account that has installed the App. Permissions are those that the account has accepted so far."""

    id: int
    account: str
    permissions: Mapping[str, str]
    suspended: bool


REFUSED_SIGNATURE = 401
"""What our receiver answers where the secrets of the two sides differ."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One attempt at a delivery. `guid` is `X-GitHub-Delivery`, the same each time; `status_code` 0 means no answer.

    `taken` is whether the receiver answered well, which GitHub calls a status of `OK`.
    """

    id: int
    guid: str
    status_code: int
    delivered_at: datetime
    redelivery: bool
    taken: bool = False


class AppClient:
    """The App's own operations. All raise KeyRefused where id and key do not fit, RateLimited and Unavailable."""

    def __init__(self, api: Api, api_of: Callable[[int], Api], skew: Callable[[], float | None]) -> None:
        self._api = api
        self._api_of = api_of
        self._skew = skew

    def get_app(self) -> AppInfo:
        """Who we are."""
        data: Any = self._api.call("read the App", self._api.rest.apps.get_authenticated)
        return AppInfo(
            slug=data.get("slug") or "",
            permissions=dict(data["permissions"]),
            events=tuple(data["events"]),
        )

    def clock_skew(self) -> float | None:
        """Seconds by which GitHub's clock is ahead of ours, 0 if below two; None before the first answer."""
        return self._skew()

    def installation_of(self, repo: RepoRef) -> int:
        """The id of the installation that covers a repository. Raises NotFound where the App is not installed."""
        request = partial(self._api.rest.apps.get_repo_installation, repo.owner, repo.name)
        return self._api.call(f"find the installation for {repo}", request)["id"]

    def repository(self, repo: RepoRef, repo_id: int) -> tuple[int, Repository]:
        """Where a repository is now, whatever was said of it before: its installation, and its present state.

        Raises NotFound where the App is not installed on it (any more), or where its name is another repository's by
        now. A public repository can be read by everybody, so that reading it would not tell.
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
        """Whether a repository is ours at present, also where access to it is suspended."""
        try:
            self.repository(repo, repo_id)
        except NotFound:
            return False
        except Forbidden:
            # Suspended, since the App itself may always ask which installation has a repository.
            return True
        return True

    def installation(self, installation_id: int) -> Installation:
        """One installation. Raises NotFound where it has ended."""
        request = partial(self._api.rest.apps.get_installation, installation_id)
        data: Any = self._api.call(f"read installation {installation_id}", request)
        return _installation(data)

    def installations(self) -> list[Installation]:
        """Every installation of the App."""
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
        """Where GitHub delivers events; empty where that is nowhere."""
        data: Any = self._api.call("read the webhook's settings", self._api.rest.apps.get_webhook_config_for_app)
        return data.get("url") or ""

    def set_hook_url(self, url: str) -> None:
        """Change where GitHub delivers."""
        request = partial(self._api.rest.apps.update_webhook_config_for_app, url=url, content_type="json")
        self._api.call("change the webhook's settings", request)

    def deliveries(
        self, *, status: Literal["success", "failure"] | None = None, most: int = 1_000
    ) -> Iterator[Delivery]:
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
                yield _delivery(data)
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


def _delivery(data: Mapping[str, Any]) -> Delivery:
    return Delivery(
        id=data["id"],
        guid=data["guid"],
        status_code=data["status_code"],
        delivered_at=convert.moment(data["delivered_at"]),
        redelivery=data["redelivery"],
        taken=data["status"] == "OK",
    )
