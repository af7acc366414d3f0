"""E1: `WEBHOOK_PROXY_URL`, a channel in the manner of smee.io, against a channel and a receiver on this machine."""

from __future__ import annotations

import base64
import http.server
import json
import logging
import socketserver
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.deliveries import proxy
from bot.deliveries.webhook import sign
from bot.domain.errors import Unavailable
from bot.platform.settings import Settings
from bot.web import create_app
from tests.effort import costs_at_most
from tests.served import listening

pytestmark = pytest.mark.slow

ONE, TWO = "72d3162e-cc78-11e3-81ab-4c9367dc0958", "83e4273f-cc78-11e3-81ab-4c9367dc0958"
SECRET = "a secret of the channel"
PAYLOAD = {
    "zen": "Größe zählt nicht – 🦆",
    "hook_id": 7,
    "text": "a\tb\n\u001b[31m \u2028 </script>",
    "path": "C:\\u001b",
}


def github_bytes(payload: object) -> bytes:
    """As GitHub sends it: compact, UTF-8, capitals in the escapes of control characters."""
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    return text.replace("\\u001b[", "\\u001B[").encode()


def message(body: bytes, delivery: str, **more: Any) -> dict[str, Any]:
    """What smee.io makes of a request: headers beside the parsed body."""
    return {
        "host": "smee.example",
        "content-length": str(len(body)),
        "content-type": "application/json",
        "x-github-event": "ping",
        "x-github-delivery": delivery,
        "x-hub-signature-256": sign(SECRET, body),
        "x-forwarded-for": "192.0.2.1",
        "body": json.loads(body),
        "query": {},
        "timestamp": 1_700_000_000_000,
        **more,
    }


def event(data: object, name: str = "") -> bytes:
    named = f"event: {name}\n" if name else ""
    return f"id: 1\n{named}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


class Stop(Exception):
    """Ends what would go on for ever."""


class Channel(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """Answers each request with the next of `answers`: a status, a content type, the chunks of a stream."""

    daemon_threads = True
    answers: list[tuple[int, str, list[bytes]]]
    asked: list[Any]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/channel"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Channel

    def do_GET(self) -> None:
        self.server.asked.append(self.headers)
        status, kind, chunks = self.server.answers.pop(0)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Location", self.server.url)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in [*chunks, b""]:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def channel() -> Iterator[Channel]:
    with Channel(("127.0.0.1", 0), Handler) as server:
        server.answers, server.asked = [], []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[str]:
    """The real receiver on a port of its own."""
    settings = Settings(home=tmp_path, database_url=f"sqlite:///{tmp_path / 'doppel.db'}", webhook_secrets=(SECRET,))
    with listening(create_app(settings)) as address:
        yield f"{address}/webhook"


def waits(most: int) -> tuple[list[float], Callable[[float], None]]:
    """A sleep that notes how long, and stops the loop when it has been called `most` times."""
    noted: list[float] = []

    def sleep(seconds: float) -> None:
        noted.append(seconds)
        if len(noted) == most:
            raise Stop

    return noted, sleep


def test_e1_what_comes_through_the_channel_is_accepted_by_the_receiver(
    channel: Channel, receiver: str, caplog: pytest.LogCaptureFixture
) -> None:
    body = github_bytes(PAYLOAD)
    stream = event({}, "ready") + event(message(body, ONE)) + event({}, "ping") + event(message(body, TWO))
    channel.answers = [(200, "text/event-stream", [stream[:100], stream[100:333], stream[333:]])]
    _, sleep = waits(1)
    with caplog.at_level(logging.INFO, "bot"), pytest.raises(Stop):
        proxy.forward(channel.url, receiver, [SECRET], sleep)
    assert [line for line in caplog.messages if "delivery" in line] == [
        f"delivery {ONE} (ping): pong",
        f"delivery {ONE} was passed on",
        f"delivery {TWO} (ping): pong",
        f"delivery {TWO} was passed on",
    ]
    assert channel.asked[0]["Accept"] == "text/event-stream"
    assert channel.url not in caplog.text


def test_e1_a_body_that_cannot_be_written_again_is_refused_and_said(
    channel: Channel, receiver: str, caplog: pytest.LogCaptureFixture
) -> None:
    """JavaScript reads 1.0 as 1, so the channel loses it; a forged delivery looks the same."""
    forged = message(b'{"zen": 1}', "forged", **{"x-hub-signature-256": sign("other", b'{"zen": 1}')})
    lost = message(b'{"zen":1.0}', "lost") | {"body": {"zen": 1}}
    channel.answers = [(200, "text/event-stream", [event(forged) + event(lost)])]
    _, sleep = waits(1)
    with caplog.at_level(logging.WARNING, "bot"), pytest.raises(Stop):
        proxy.forward(channel.url, receiver, [SECRET], sleep)
    why = "was refused: the channel changed its body, or the secret is wrong"
    assert caplog.messages == [f"delivery forged {why}", f"delivery lost {why}"]


@pytest.mark.parametrize(
    "raw",
    [
        lambda body: {"rawdata": {"type": "Buffer", "data": list(body)}},
        lambda body: {"rawdata": body.decode()},
        lambda body: {"bodyB": base64.b64encode(body).decode()},
    ],
)
def test_raw_bytes_are_taken_where_the_channel_passes_them_on(raw: Callable[[bytes], dict[str, Any]]) -> None:
    body = b'{ "zen" : 1.0 }\n'
    found = proxy.read(json.dumps(message(body, "raw") | raw(body)), [SECRET])
    assert found is not None and found.body == body


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
)


@given(payload=st.dictionaries(st.text(max_size=8), json_values, max_size=5))
def test_any_compact_body_is_written_again_byte_by_byte(payload: dict[str, Any]) -> None:
    body = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
    found = proxy.read(json.dumps(message(body, "any")), ["previous", SECRET])
    assert found is not None and found.body == body


def test_only_githubs_headers_are_passed_on() -> None:
    body = b'{"zen":"calm"}'
    hostile = {"cookie": "x", "x-github-event": "ping", "x-github-x": "a\r\nHost: elsewhere", "transfer-encoding": "x"}
    # What is no header's name would end the process when the delivery is posted.
    hostile |= {"x-github-é中": "x", "x-github-a: b": "x", "x-github-\r\nhost": "x"}
    found = proxy.read(json.dumps(message(body, "d") | hostile), [SECRET])
    assert found is not None
    assert set(found.headers) == {"content-type", "x-github-event", "x-github-delivery", "x-hub-signature-256"}


def test_a_lost_channel_is_asked_again_and_redirects_lead_nowhere(
    channel: Channel, caplog: pytest.LogCaptureFixture
) -> None:
    body = b'{"zen":"calm"}'
    channel.answers = [
        (502, "text/html", []),
        (302, "text/html", []),
        (200, "text/html", []),
        (200, "text/event-stream", [event(message(body, "d"))]),
        (502, "text/html", []),
    ]
    noted, sleep = waits(4 + proxy.TRIES)
    # Nobody listens at port 9: the delivery is offered for some seconds and given up.
    with caplog.at_level(logging.WARNING, "bot"), pytest.raises(Stop):
        proxy.forward(channel.url, "http://127.0.0.1:9/webhook", [SECRET], sleep)
    refused = proxy.WAIT_IF_REFUSED
    assert noted == [refused, refused, refused, *[1] * proxy.TRIES, 1]
    assert "delivery d was not taken by the receiver (ConnectionError)" in caplog.messages
    assert len(channel.asked) == 4
    assert channel.url not in caplog.text


def test_a_quiet_channel_that_hangs_up_now_and_then_is_listened_to_again_at_once(channel: Channel) -> None:
    """What it takes while nobody listens is lost: it keeps nothing, and GitHub does not send that again."""
    quiet = (200, "text/event-stream", [event({}, "ready"), event({}, "ping")])
    channel.answers = [quiet] * 8
    noted, sleep = waits(4)
    with pytest.raises(Stop):
        proxy.forward(channel.url, "http://127.0.0.1:9/webhook", [SECRET], sleep)
    assert noted == [1, 1, 1, 1]


def test_an_endless_event_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy, "LONGEST_EVENT", 1_000)
    for endless in ([b"data: x"] * 1_000, [b"data: x\n"] * 1_001, [b"data:\n"] * 1_001):
        with pytest.raises(Unavailable):
            list(proxy.messages(endless))


def test_an_event_of_many_lines_costs_little() -> None:
    with costs_at_most(10):
        assert list(proxy.messages([b"data:a\n" * 40_000, b"\n"])) == ["\n".join("a" * 40_000)]
