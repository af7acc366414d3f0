"""What the host decides: environment variables, `.env` and the App's private key, read to one frozen object (E1)."""

from bot.settings.environment import unread_lines
from bot.settings.loading import WrongSettings, database_url, load, misspelt, parts_of_an_app
from bot.settings.model import Settings
from bot.settings.table import VARIABLES

__all__ = [
    "VARIABLES",
    "Settings",
    "WrongSettings",
    "database_url",
    "load",
    "misspelt",
    "parts_of_an_app",
    "unread_lines",
]
