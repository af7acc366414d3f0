"""Calls for people who sign in to the dashboard, and for a new App's credentials.

https://docs.github.com/rest/apps/installations
https://docs.github.com/rest/apps/apps#create-a-github-app-from-a-manifest
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import quote

from bot.github.calls import Api

# A person who looks after more sees only the first ones.
_MOST_INSTALLATIONS, _MOST_REPOSITORIES = 20, 300


class VisitorClient:
    """Asks with one person's token, which is then forgotten."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def login(self) -> str:
        """The person's login."""
        return str(self._api.call("read who signs in", self._api.rest.users.get_authenticated)["login"])

    def looked_after(self) -> Iterator[int]:
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
