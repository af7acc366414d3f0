"""Signs and sends one delivery of an event.

https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries describes the signature. GitHub waits ten
seconds for an answer, and follows no redirect. It repeats a delivery only on request.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import time
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import requests

from bot.simulator.state.accounts import App

TIMEOUT = 10.0

# The status, headers and body of an answer. A `Post` sends a body and headers to an address.
Answer = tuple[int, Mapping[str, str], str]
Post = Callable[[str, bytes, Mapping[str, str]], Answer]


@dataclass(slots=True, eq=False)
class Delivery:
    """One attempt to deliver an event. It took `duration` seconds. `status_code` is 0 as long as there is no answer."""

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
    """The value of X-Hub-Signature-256. The older header X-Hub-Signature has algorithm sha1."""
    return f"{algorithm}={hmac.new(secret.encode(), body, algorithm).hexdigest()}"


def send(delivery: Delivery, post: Post) -> None:
    """Sign and send the delivery, and store the outcome in it."""
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
        code, answer_headers, text = post(hook.url, body, headers)
    except (requests.Timeout, TimeoutError):
        delivery.status = "timed out"
    except Exception:
        # GitHub counts any missing answer as the receiver's failure.
        delivery.status = "failed to connect to host"
    else:
        delivery.response_headers, delivery.response_body = dict(answer_headers), text
        delivery.status = "OK" if code < 400 else f"Invalid HTTP Response: {code}"
        delivery.status_code = code
    delivery.duration = round(time.monotonic() - started, 3)


_session = threading.local()


def http_post(url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
    """Send over HTTP and wait for the answer; give up after ten seconds of silence."""
    session: requests.Session | None = getattr(_session, "value", None)
    if session is None:
        session = _session.value = requests.Session()
        # Do not use the environment's proxy: the receiver is on this machine.
        session.trust_env = False
    answer = session.post(url, data=body, headers=dict(headers), timeout=TIMEOUT, allow_redirects=False)
    return answer.status_code, answer.headers, answer.text
