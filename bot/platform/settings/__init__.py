"""The host's settings: environment variables, `.env` and the App's private key, read into one frozen object (E1)."""

from bot.platform.settings.fields import Settings, database_url
from bot.platform.settings.loading import VARIABLES, WrongSettings, load, misspelt, parts_of_an_app

__all__ = [
    "VARIABLES",
    "Settings",
    "WrongSettings",
    "database_url",
    "load",
    "misspelt",
    "parts_of_an_app",
]
