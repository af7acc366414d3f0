"""Options that give the address of a database in place of DATABASE_URL."""

from __future__ import annotations

import os

from bot import settings as host
from bot.settings import Settings
from bot.settings.values import database_url


def settings_with(option: str, url: str | None, otherwise: str = "DATABASE_URL") -> Settings:
    """The host's settings, with the database at `url` where the option was given; `otherwise` is used without it.

    Raises SettingsError naming the option where that is no address of a database.
    """
    if url is None:
        return host.load()
    if url:
        database_url(url, option, otherwise)
    return host.load({**os.environ, "DATABASE_URL": url})
