"""Finds the handler of an event. `bot.app` makes the router from the table `handlers.ROUTES`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from bot.deliveries.events import Event, full_name
from bot.domain.errors import Forbidden, NotFound, Unavailable
from handlers.services import Services

logger = logging.getLogger(__name__)

Level = Literal["read", "write"]


@dataclass(frozen=True, slots=True)
class Route:
    """A row of the table: a handler, the event and actions that it handles, and the permissions that it needs.

    `event` is the header `X-GitHub-Event`, or a name of the bot's own. `actions` is `("",)` for events without actions,
    such as `push`. `permissions` use the names of an App's manifest. `app.yml` asks for the permissions of all routes.
    """

    event: str
    actions: tuple[str, ...]
    # `Any`, because each handler takes its own event class, which `bot.deliveries` chooses by the event's name.
    handler: Callable[[Any, Services], None]
    permissions: Mapping[str, Level] = field(default_factory=dict)


class Router:
    def __init__(self, routes: Iterable[Route]) -> None:
        """Raises ValueError if two rows claim the same action."""
        self._handlers: dict[tuple[str, str], Callable[[Any, Services], None]] = {}
        for route in routes:
            for action in route.actions:
                if (route.event, action) in self._handlers:
                    raise ValueError(f"{route.event}.{action} has two handlers")
                self._handlers[route.event, action] = route.handler

    def dispatch(self, event: Event, services: Services, *, new: bool = False) -> None:
        """Run the event's handler. Retryable errors and faults propagate to the queue.

        If GitHub answers NotFound or Forbidden, drop the event: while a delivery waits, people delete issues and
        uninstall Apps. But GitHub may send an event before all its databases have the issue, so if the delivery has
        just arrived (`new`), NotFound becomes Unavailable, and the queue tries again.
        """
        handler = self._handlers.get((event.name, event.action))
        if handler is None:
            # A web process of a newer release has queued the event.
            logger.warning("%s has no handler here", full_name(event))
            return
        try:
            handler(event, services)
        except (NotFound, Forbidden) as refusal:
            if new and isinstance(refusal, NotFound):
                raise Unavailable(f"{full_name(event)}: not yet visible on GitHub") from refusal
            logger.warning("%s on %s dropped: %s", full_name(event), event.partition, refusal)
        else:
            logger.info("%s on %s handled", full_name(event), event.partition)
