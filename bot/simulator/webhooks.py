"""Decides who receives an event, sends the deliveries in the background, and logs them."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from bot.simulator import validation
from bot.simulator.deliveries import Delivery, Post, http_post, send
from bot.simulator.payloads import events
from bot.simulator.state.accounts import App, Installation
from bot.simulator.state.events import Event
from bot.simulator.state.world import World

RETENTION = timedelta(days=3)


class Webhooks:
    """Builds the payloads of events and sends them in the background.

    `post` sends a delivery, by default over HTTP; a test can use it to deliver within its own process. By default,
    one thread sends in order. GitHub promises no order: with several `senders`, deliveries are sent in parallel, and
    `hold` gives the seconds by which to delay the next delivery, so that other deliveries overtake it. Deliveries are
    listed for `retention`; an Enterprise Server lists them for seven days. With `validate`, a body that GitHub would
    never send raises ContractViolation.
    """

    def __init__(self, world: World, post: Post | None, *, validate: bool) -> None:
        self._world = world
        self.post: Post = post or http_post
        self.validate = validate
        self.senders = 1
        self.retention = RETENTION
        self.hold: Callable[[], float] = lambda: 0.0
        self.log: list[Delivery] = []
        self._queue: queue.Queue[Delivery | None] = queue.Queue()
        self._threads: list[threading.Thread] = []

    def announce(self, event: Event) -> None:
        """Queue the event for each concerned installation that is active and subscribes to it.

        The events in `ALWAYS` go to all concerned installations. About a pull request, GitHub sends
        `pull_request` events instead of `issues` events, and the simulator sends neither.
        """
        if event.name == "issues" and event.parts["issue"].is_pull_request:
            return
        for installation in self._concerned(event):
            app, active = installation.app, installation.suspended_at is None
            if app.hook.url and (event.name in events.ALWAYS or (active and event.name in installation.events)):
                body = events.payload(self._world, event, installation)
                repository_id = event.repository.id if event.repository else None
                self._add(app, event.name, event.action, body, installation.id, repository_id)

    def _concerned(self, event: Event) -> Iterator[Installation]:
        """The installations that the event names, and the installations on the event's repository."""
        yield from event.installations
        if event.repository is not None:
            for installation in self._world.installations_on(event.repository):
                if installation not in event.installations:
                    yield installation

    def ping(self, app: App) -> None:
        hook = app.hook
        body = events.ping(self._world, hook.id, app.id, hook.url, hook.content_type, app.events)
        self._add(app, "ping", None, body, None, None)

    def redeliver(self, delivery: Delivery) -> None:
        """Send the same payload once more, under the same GUID."""
        repeated = Delivery(
            self._world.ids.next("delivery"),
            delivery.guid,
            delivery.app,
            delivery.event,
            delivery.action,
            delivery.installation_id,
            delivery.repository_id,
            delivery.payload,
            self._world.clock.now(),
            redelivery=True,
        )
        self._enqueue(repeated)

    def recent(self, app: App) -> list[Delivery]:
        """The App's finished attempts of the last `retention`, newest first."""
        since = self._world.clock.now() - self.retention
        finished = (entry for entry in reversed(self.log) if entry.status != "pending")
        return [entry for entry in finished if entry.app is app and entry.delivered_at >= since]

    def join(self, timeout: float = 60.0) -> None:
        """Wait until all queued deliveries are sent and answered. Raises TimeoutError after `timeout` seconds."""
        end = time.monotonic() + timeout
        with self._queue.all_tasks_done:
            while self._queue.unfinished_tasks:
                left = end - time.monotonic()
                if left <= 0:
                    raise TimeoutError(f"{self._queue.unfinished_tasks} webhooks are still under way")
                self._queue.all_tasks_done.wait(left)

    def stop(self) -> None:
        """Drop the queued deliveries, and end the threads after their current deliveries."""
        threads, self._threads = self._threads, []
        if threads:
            with contextlib.suppress(queue.Empty):
                while True:
                    self._queue.get_nowait()
                    self._queue.task_done()
            for _ in threads:
                self._queue.put(None)
            for thread in threads:
                thread.join(timeout=1.0)

    def _add(
        self,
        app: App,
        event: str,
        action: str | None,
        body: dict[str, Any],
        installation_id: int | None,
        repository_id: int | None,
    ) -> None:
        if self.validate:
            validation.check_event(event, action, body)
        key = self._world.ids.next("delivery")
        now = self._world.clock.now()
        guid = str(uuid.uuid4())
        self._enqueue(Delivery(key, guid, app, event, action, installation_id, repository_id, body, now))

    def _enqueue(self, delivery: Delivery) -> None:
        self.log.append(delivery)
        self._queue.put(delivery)
        while len(self._threads) < self.senders:
            self._threads.append(threading.Thread(target=self._run, name="simulator-webhooks", daemon=True))
            self._threads[-1].start()

    def _run(self) -> None:
        while (delivery := self._queue.get()) is not None:
            try:
                time.sleep(self.hold())
                send(delivery, self.post)
            finally:
                self._queue.task_done()
        self._queue.task_done()  # the None that `stop` has queued
