"""Signed deliveries, in order unless told otherwise, in the background; and the log that `/app/hook/deliveries` shows.

https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries has the signature, GitHub waits ten
seconds for an answer, follows no redirect and never tries again by itself.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import queue
import threading
import time
import urllib.parse
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import requests

from bot.simulator import validation
from bot.simulator.payloads import events
from bot.simulator.state.accounts import App, Installation
from bot.simulator.state.events import Event
from bot.simulator.state.world import World

TIMEOUT = 10.0
RETENTION = timedelta(days=3)

Answer = tuple[int, Mapping[str, str], str]
Post = Callable[[str, bytes, Mapping[str, str]], Answer]


@dataclass(slots=True, eq=False)
class Delivery:
    """One attempt to deliver an event. `status_code` is 0 until there was an answer, and where there was none."""

    id: int
    guid: str
    app: App
    event: str
    action: str | None
    installation_id: int | None
    repository_id: int | None
    payload: dict[str, Any]
    delivered_at: datetime
    redelivery: bool = False
    url: str = ""
    duration: float = 0.0
    status: str = "pending"
    status_code: int = 0
    request_headers: dict[str, str] = field(default_factory=dict)
    response_headers: dict[str, str] = field(default_factory=dict)
    response_body: str = ""


def signature(secret: str, body: bytes, algorithm: str = "sha256") -> str:
    """The value of `X-Hub-Signature-256` (or, with `sha1`, of the older header)."""
    return f"{algorithm}={hmac.new(secret.encode(), body, algorithm).hexdigest()}"


class Webhooks:
    """Builds payloads when something happens and sends them in the background.

    `post` does the sending, by default over HTTP; a test can deliver to an application in its own process with it.
    One thread sends in order. GitHub promises no order: with several `senders` deliveries are under way at once, and
    `hold` answers for how many seconds the next one is kept back first, so that others overtake it. `retention` is
    how long deliveries are listed; an Enterprise Server lists them for seven days.
    """

    def __init__(self, world: World, post: Post | None = None, *, validate: bool = True) -> None:
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
        """Queue a delivery for each installation that the event concerns, if its App has a webhook and wants the event.

        Pull requests exist here only as the issues API shows them, so that events of their own are not sent.
        """
        if event.name == "issues" and event.parts["issue"].is_pull_request:
            return
        for installation in self._concerned(event):
            app = installation.app
            if not app.hook.url or (event.name not in events.ALWAYS and event.name not in installation.events):
                continue
            if installation.suspended_at is not None and event.name not in events.ALWAYS:
                continue
            body = events.payload(self._world, event, installation)
            repository = event.repository.id if event.repository else None
            self._add(app, event.name, event.action, body, installation.id, repository)

    def _concerned(self, event: Event) -> Iterator[Installation]:
        """The installations that the event names, and those on its repository."""
        yield from event.installations
        for installation in self._world.installations.values():
            if event.repository is None or installation in event.installations:
                continue
            if self._world.covers(installation, event.repository):
                yield installation

    def ping(self, app: App) -> None:
        """Queue the event that says hello."""
        hook = app.hook
        body = events.ping(self._world, hook.id, app.id, hook.url, hook.content_type, app.events)
        self._add(app, "ping", None, body, None, None)

    def redeliver(self, delivery: Delivery) -> None:
        """Send the same payload once more, under the same GUID."""
        again = Delivery(
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
        self._enqueue(again)

    def recent(self, app: App) -> list[Delivery]:
        """The attempts of the last three days that are over, newest first."""
        since = self._world.clock.now() - self.retention
        over = (entry for entry in reversed(self.log) if entry.status != "pending")
        return [entry for entry in over if entry.app is app and entry.delivered_at >= since]

    def join(self, timeout: float = 60.0) -> None:
        """Wait until everything queued has been sent and answered; TimeoutError otherwise."""
        end = time.monotonic() + timeout
        with self._queue.all_tasks_done:
            while self._queue.unfinished_tasks:
                left = end - time.monotonic()
                if left <= 0:
                    raise TimeoutError(f"{self._queue.unfinished_tasks} webhooks are still under way")
                self._queue.all_tasks_done.wait(left)

    def stop(self) -> None:
        """Send what is queued no more, and end the threads once their present deliveries are over."""
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
        installation: int | None,
        repository: int | None,
    ) -> None:
        if self.validate:
            validation.check_event(event, action, body)
        key = self._world.ids.next("delivery")
        now = self._world.clock.now()
        guid = str(uuid.uuid4())
        self._enqueue(Delivery(key, guid, app, event, action, installation, repository, body, now))

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
                self._send(delivery)
            finally:
                self._queue.task_done()
        self._queue.task_done()

    def _send(self, delivery: Delivery) -> None:
        hook = delivery.app.hook
        body = json.dumps(delivery.payload).encode()
        kind = "application/json"
        if hook.content_type == "form":
            body = urllib.parse.urlencode({"payload": body}).encode()
            kind = "application/x-www-form-urlencoded"
        headers = {
            "Accept": "*/*",
            "Content-Type": kind,
            "User-Agent": f"GitHub-Hookshot/{hashlib.sha256(b'simulator').hexdigest()[:7]}",
            "X-GitHub-Delivery": delivery.guid,
            "X-GitHub-Event": delivery.event,
            "X-GitHub-Hook-ID": str(hook.id),
            "X-GitHub-Hook-Installation-Target-ID": str(delivery.app.id),
            "X-GitHub-Hook-Installation-Target-Type": "integration",
        }
        if hook.secret:
            headers["X-Hub-Signature"] = signature(hook.secret, body, "sha1")
            headers["X-Hub-Signature-256"] = signature(hook.secret, body)
        delivery.url, delivery.request_headers = hook.url, headers
        started = time.monotonic()
        try:
            code, answer_headers, text = self.post(hook.url, body, headers)
        except (requests.Timeout, TimeoutError):
            delivery.status = "timed out"
        except Exception:
            # Whatever keeps the receiver from answering is the receiver's failure, as GitHub sees it.
            delivery.status = "failed to connect to host"
        else:
            delivery.response_headers, delivery.response_body = dict(answer_headers), text
            delivery.status = "OK" if code < 400 else f"Invalid HTTP Response: {code}"
            delivery.status_code = code
        delivery.duration = round(time.monotonic() - started, 3)


_session = threading.local()


def http_post(url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
    """Send over HTTP and wait for the answer, ten seconds at most."""
    session: requests.Session | None = getattr(_session, "value", None)
    if session is None:
        session = _session.value = requests.Session()
        # A proxy of the environment must not see what is meant for this machine.
        session.trust_env = False
    answer = session.post(url, data=body, headers=dict(headers), timeout=TIMEOUT, allow_redirects=False)
    return answer.status_code, answer.headers, answer.text
