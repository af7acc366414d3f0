"""From an event to the feature that handles it.

The table itself is `handlers.ROUTES`; it is handed in by the composition root, so that nothing in `bot` depends on
a feature and importing a feature registers nothing.
"""

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
    """One row of the table: which actions of which event a feature handles, and what it needs from GitHub.

    `event` is `X-GitHub-Event`. `actions` is `("",)` for events that have none, such as `push`. `permissions` are those
    of a GitHub App as its manifest names them; `app.yml` asks for their union and no more.
    """

    event: str
    actions: tuple[str, ...]
    # Each feature takes the narrow type of its own event; the codec guarantees that the name and the type agree.
    handler: Callable[[Any, Services], None]
    permissions: Mapping[str, Level] = field(default_factory=dict)


class Router:
    """Finds the one feature that handles an event."""

    def __init__(self, routes: Iterable[Route]) -> None:
        """Raises ValueError where two rows claim the same action: which of them ran would be chance."""
        self._handlers: dict[tuple[str, str], Callable[[Any, Services], None]] = {}
        for route in routes:
            for action in route.actions:
                if (route.event, action) in self._handlers:
                    raise ValueError(f"{route.event}.{action} has two handlers")
                self._handlers[route.event, action] = route.handler

    def dispatch(self, event: Event, services: Services, *, new: bool = False) -> None:
        """Run the event's feature.

        What GitHub no longer shows us needs no work: issues are deleted and Apps uninstalled while a delivery waits.
        That is logged and done with. Retryable errors and faults go through to the queue. Of a `new` delivery GitHub
        may not show yet what it tells of: it sends one before all of its databases have what has happened. Then it is
        to be tried again, and Unavailable is raised.
        """
        handler = self._handlers.get((event.name, event.action))
        if handler is None:
            # A web process of another version queued it; the next release of this worker may know more.
            logger.warning("%s has no handler here", full_name(event))
            return
        try:
            handler(event, services)
        except (NotFound, Forbidden) as refusal:
            if new and isinstance(refusal, NotFound):
                raise Unavailable(f"{full_name(event)}: GitHub does not show what it tells of") from refusal
            logger.warning("%s on %s dropped: %s", full_name(event), event.partition, refusal)
        else:
            logger.info("%s on %s handled", full_name(event), event.partition)
