"""`doppel receive` signs as GitHub does; `responses` stands for the receiver, since this speaks through requests."""

from __future__ import annotations

import hashlib
import hmac
import json
from pathlib import Path

import pytest
import responses
from click.testing import CliRunner

from bot.app.cli.simulator import receive
from bot.domain.errors import Unavailable, UserError

GUID = "72d3162e-cc78-11e3-81ab-4c9367dc0958"
URL = "http://127.0.0.1:4567/webhook"


@pytest.fixture
def payload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WEBHOOK_SECRET", "a secret")
    file = tmp_path / "payload.json"
    file.write_bytes(b'{"zen": "calm"}')
    return file


@responses.activate
def test_the_payload_is_posted_signed_and_unchanged(payload: Path) -> None:
    responses.post(URL, status=202, json={"status": "queued"})
    result = CliRunner().invoke(receive, ["ping", str(payload), "--url", URL, "--delivery", GUID, "--json"])
    assert result.exit_code == 0
    assert json.loads(result.output)["status"] == 202
    request = responses.calls[0].request
    assert request.body == b'{"zen": "calm"}'
    assert request.headers["X-GitHub-Event"] == "ping"
    assert request.headers["X-GitHub-Delivery"] == GUID
    expected = hmac.new(b"a secret", b'{"zen": "calm"}', hashlib.sha256).hexdigest()
    assert request.headers["X-Hub-Signature-256"] == f"sha256={expected}"


@responses.activate
@pytest.mark.parametrize(
    ("host", "there"), [("", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("192.0.2.7", "192.0.2.7"), ("::", "[::1]")]
)
def test_the_default_address_is_where_the_receiver_listens(
    payload: Path, monkeypatch: pytest.MonkeyPatch, host: str, there: str
) -> None:
    monkeypatch.setenv("DOPPEL_HOST", host)
    monkeypatch.setenv("PORT", "4567")
    responses.post(f"http://{there}:4567/webhook", status=202)
    assert CliRunner().invoke(receive, ["ping", str(payload)]).exit_code == 0


@responses.activate
def test_a_refusal_is_exit_code_1(payload: Path) -> None:
    responses.post(URL, status=401, body="bad signature")
    result = CliRunner().invoke(receive, ["ping", str(payload), "--url", URL])
    assert result.exit_code == 1
    assert "401" in result.output


@responses.activate
def test_an_address_where_nobody_answers_is_said(payload: Path) -> None:
    result = CliRunner().invoke(receive, ["ping", str(payload), "--url", URL])
    assert isinstance(result.exception, Unavailable) and URL in str(result.exception)


@pytest.mark.parametrize(
    ("event", "url"),
    [
        ("ping", "nowhere"),
        ("ping", f"http://{'a' * 64}.example/"),
        ("ping", "http://ann:\N{SNOWMAN}@127.0.0.1:1/"),
        ("\N{SNOWMAN}", URL),
    ],
)
def test_what_cannot_be_sent_is_the_callers_to_mend(payload: Path, event: str, url: str) -> None:
    result = CliRunner().invoke(receive, [event, str(payload), "--url", url])
    assert isinstance(result.exception, UserError) and str(result.exception).startswith("EVENT or --url: ")


@pytest.mark.parametrize("given", ["d-1", "one\ntwo", "chore:reconcile:7"])
def test_a_delivery_id_that_the_receiver_would_refuse_is_the_callers_to_mend(payload: Path, given: str) -> None:
    result = CliRunner().invoke(receive, ["ping", str(payload), "--url", URL, "--delivery", given])
    assert result.exit_code == 2
    assert "--delivery" in result.output
