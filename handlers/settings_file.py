"""A push changed the settings file or the issue forms: what is remembered of them is outdated (C6)."""

from __future__ import annotations

from bot.events import PushEvent
from bot.services import Services


def pushed(event: PushEvent, services: Services) -> None:
    """Forget the files; the next event reads them anew.

    What is wrong with a settings file is told to whoever gives a command or runs `check-config`. A push is not
    answered, since a broken file changes nothing for anybody until then.
    """
    services.repository_settings.forget(event.repository)
