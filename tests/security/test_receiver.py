"""Payloads that are built to hurt: compressed, nested, with numbers and keys without end. All of them are signed."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from bot.deliveries.webhook import LARGEST_PAYLOAD, sign
from bot.platform.settings import Settings
from bot.web import create_app
from tests.effort import costs_at_most

SECRET = "secret"
# Of the processor's time: what a stranger could make a process of ours spend, if they could sign.
MOST_SECONDS = 20.0


@pytest.fixture
def client(tmp_path: Path) -> FlaskClient:
    url = f"sqlite:///{tmp_path / 'doppel.db'}"
    return create_app(Settings(home=tmp_path, database_url=url, webhook_secrets=(SECRET,))).test_client()


def post(client: FlaskClient, body: bytes, **more: str) -> int:
    headers = {
        "Content-Type": "application/json",
        "X-GitHub-Event": "issues",
        "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
        "X-Hub-Signature-256": sign(SECRET, body),
        **more,
    }
    return client.post("/webhook", data=body, headers=headers).status_code


@pytest.mark.slow
@pytest.mark.parametrize(("encoding", "compress"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_a_compressed_body_is_never_unpacked(
    client: FlaskClient, encoding: str, compress: Callable[[bytes], bytes]
) -> None:
    """GitHub compresses nothing; a hundred kilobytes could become a hundred megabytes."""
    body = compress(b'{"action": "' + b"a" * 50_000_000 + b'"}')
    assert len(body) < 100_000
    with costs_at_most(MOST_SECONDS):
        assert post(client, body, **{"Content-Encoding": encoding}) == 400


DEEP = 100_000
ODD = {
    "lists": b"[" * DEEP + b"]" * DEEP,
    "objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "unclosed": b'{"issue":[{"a":' * DEEP,
    "in the issue": b'{"action":"opened","issue":' + b'{"user":' * 900 + b"1" + b"}" * 900 + b"}",
    "a number of a million digits": b'{"action":"opened","issue":{"number":' + b"9" * 1_000_000 + b"}}",
    "an exponent": b'{"action":"opened","issue":{"number":1e999999999}}',
    "not a number": b'{"action":"opened","issue":{"number":NaN}}',
    "a key again and again": b'{"action":"opened",' + b'"issue":1,' * DEEP + b'"issue":2}',
    "other encodings": json.dumps({"action": "opened"}).encode("utf-16"),
    "broken UTF-8": b'{"action":"\xff\xfe"}',
    "zeros": bytes(1_000_000),
}


@pytest.mark.slow
@pytest.mark.parametrize("body", ODD.values(), ids=ODD.keys())
def test_json_that_is_built_to_hurt_is_refused_at_once(client: FlaskClient, body: bytes) -> None:
    with costs_at_most(MOST_SECONDS):
        assert post(client, body) == 400


@pytest.mark.slow
@pytest.mark.parametrize("body", [b'{"a":"' + b"x" * (LARGEST_PAYLOAD - 8) + b'"}', b"[" + b"0," * 12_000_000 + b"0]"])
def test_the_largest_bodies_cost_little(client: FlaskClient, body: bytes) -> None:
    assert len(body) <= LARGEST_PAYLOAD
    with costs_at_most(MOST_SECONDS):
        assert post(client, body) == 400


def test_headers_and_paths_of_strangers_are_not_repeated(client: FlaskClient) -> None:
    planted = "<script>planted</script>"
    for answer in (
        client.get(f"/{planted}"),
        client.get("/metrics", headers={"Accept": planted, "Authorization": planted}),
        client.post("/webhook", data=planted, headers={"X-GitHub-Event": planted, "Host": "planted.example"}),
    ):
        assert "planted" not in answer.text
        assert "planted" not in str(answer.headers)
