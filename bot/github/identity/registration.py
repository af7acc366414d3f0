"""What is asked as nobody in particular: the credentials of an App that was just created.

https://docs.github.com/rest/apps/apps#create-a-github-app-from-a-manifest
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from urllib.parse import quote

from bot.github.api.calls import Api


@dataclass(frozen=True, slots=True)
class NewApp:
    """An App as GitHub tells of it once."""

    id: int
    slug: str
    private_key: str = field(repr=False)
    webhook_secret: str = field(repr=False)
    client_id: str
    client_secret: str = field(repr=False)


def convert_manifest(api: Api, code: str) -> NewApp:
    """The App for the code that GitHub sent its maker back with; works once, within the hour.

    Raises NotFound for a code that is no good.
    """
    made = api.call("exchange the manifest's code", partial(api.rest.apps.create_from_manifest, quote(code, safe="")))
    return NewApp(
        id=made["id"],
        slug=made["slug"],
        private_key=made["pem"],
        webhook_secret=made["webhook_secret"] or "",
        client_id=made["client_id"],
        client_secret=made["client_secret"],
    )
