"""How much of a request is read, and what becomes of one that cannot be read; through the web application."""

from __future__ import annotations

import io
import logging
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from flask import Flask, request, url_for
from gunicorn.http.errors import ChunkMissingTerminator, InvalidChunkSize, InvalidHeader, NoMoreData
from werkzeug.exceptions import ServiceUnavailable

from bot.deliveries.webhook import LARGEST_FORM, MOST_FIELDS, USUAL, BodySlots, sign
from bot.platform.settings import load
from bot.simulator.keys import shared_pair
from bot.web import create_app

SECRET = "secret"
# As gunicorn tells of a body in chunks.
CHUNKED = {"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def app(tmp_path: Path) -> Flask:
    """With all pages that there can be."""
    environ = {
        "DOPPEL_HOME": str(tmp_path),
        "DOPPEL_SETUP_TOKEN": "token",
        "WEBHOOK_SECRET": SECRET,
        "APP_ID": "1",
        "PRIVATE_KEY": shared_pair().private,
        "GITHUB_CLIENT_ID": "Iv1",
        "GITHUB_CLIENT_SECRET": "client",
    }
    return create_app(load(environ, tmp_path / "no.env"))


@pytest.fixture
def new_host(tmp_path: Path) -> Flask:
    return create_app(load({"DOPPEL_HOME": str(tmp_path), "DOPPEL_SETUP_TOKEN": "token"}, tmp_path / "no.env"))


def paths(app: Flask) -> set[str]:
    """Those to which a form can be posted, the webhook's apart."""
    values: dict[str, Any] = {"owner": "acme", "name": "app", "number": 1}
    rules = [rule for rule in app.url_map.iter_rules() if "POST" in (rule.methods or ())]
    with app.test_request_context():
        found = {url_for(rule.endpoint, **{name: values[name] for name in rule.arguments}) for rule in rules}
    return found - {"/webhook"}


TOO_MUCH = {"fields": b"a=&" * MOST_FIELDS, "bytes": b"a=" + b"x" * LARGEST_FORM}


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("body", TOO_MUCH.values(), ids=TOO_MUCH.keys())
def test_no_page_takes_a_form_of_more_than_it_needs(app: Flask, new_host: Flask, body: bytes, chunked: bool) -> None:
    client = app.test_client()
    assert len(paths(app)) >= 4 and "/setup" in paths(new_host)
    for path in paths(app) | {"/healthz", "/nowhere"}:
        how: dict[str, Any] = (
            {"input_stream": io.BytesIO(body), "environ_overrides": CHUNKED} if chunked else {"data": body}
        )
        assert client.post(path, content_type=FORM, **how).status_code == 413, path
    assert new_host.test_client().post("/setup", data=body, content_type=FORM).status_code == 413


def test_what_is_just_allowed_is_read(app: Flask) -> None:
    @app.post("/echo")
    def echo() -> dict[str, int]:
        return {name: len(value) for name, value in request.form.items(multi=True)}

    client = app.test_client()
    fields = b"&".join(b"f%d=" % number for number in range(MOST_FIELDS))
    assert len(client.post("/echo", data=fields, content_type=FORM).json or {}) == MOST_FIELDS
    largest = b"a=" + b"x" * (LARGEST_FORM - 2)
    assert client.post("/echo", data=largest, content_type=FORM).json == {"a": LARGEST_FORM - 2}
    parts = {f"f{number}": "x" for number in range(MOST_FIELDS + 1)}
    assert client.post("/echo", data=parts, content_type="multipart/form-data").status_code == 413


def test_a_signed_form_of_many_fields_is_refused_before_it_is_parsed(app: Flask) -> None:
    for body, status in ((b"a=&" * 16 + b"payload={}", 400), (urlencode({"payload": "{}"}).encode(), 202)):
        headers = {
            "X-GitHub-Event": "ping",
            "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
            "X-Hub-Signature-256": sign(SECRET, body),
        }
        answer = app.test_client().post("/webhook", data=body, content_type=FORM, headers=headers)
        assert answer.status_code == status


class Failing:
    """A body of which reading fails."""

    def __init__(self, problem: Exception) -> None:
        self._problem = problem

    def read(self, size: int = -1) -> bytes:
        raise self._problem


UNREADABLE = (
    InvalidChunkSize(b"ZZ"),
    ChunkMissingTerminator(b"x"),
    InvalidHeader("trailer"),
    NoMoreData(),
    ConnectionResetError(),
    TimeoutError(),
)


@pytest.mark.parametrize("path", ["/webhook", "/logout"])
@pytest.mark.parametrize("problem", UNREADABLE, ids=lambda problem: type(problem).__name__)
def test_what_cannot_be_read_is_400_and_no_failure_of_ours(
    app: Flask, path: str, problem: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        answer = app.test_client().post(path, environ_overrides={"wsgi.input": Failing(problem), **CHUNKED})
    assert answer.status_code == 400
    assert not any(record.exc_info or record.levelno >= logging.WARNING for record in caplog.records)
    # The same is said once a minute.
    assert all(getattr(record, "often", False) for record in caplog.records)


def test_a_body_that_ends_early_is_400(app: Flask) -> None:
    ended = {"wsgi.input_terminated": True, "CONTENT_LENGTH": "1000"}
    answer = app.test_client().post("/webhook", input_stream=io.BytesIO(b"{"), environ_overrides=ended)
    assert answer.status_code == 400


def test_few_large_bodies_are_read_at_a_time_and_small_ones_wait_for_none() -> None:
    room, inside, leave = BodySlots(1, patience=0.0), threading.Event(), threading.Event()

    def hold() -> None:
        with room.take(USUAL + 1):
            inside.set()
            leave.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    inside.wait()
    for length in (USUAL + 1, None):
        with pytest.raises(ServiceUnavailable), room.take(length):
            pass
    with room.take(USUAL):
        leave.set()
    holder.join()
    with room.take(None):
        pass
