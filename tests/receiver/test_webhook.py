"""Reading webhooks: signatures, statuses, and that nothing a stranger sends can raise."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.deliveries.webhook import LARGEST_PAYLOAD, Accepted, Refused, is_signed, read, sign

SECRET, PREVIOUS = "current", "previous"
USER = {"login": "ann", "id": 7, "type": "User"}
GUID = "72d3162e-cc78-11e3-81ab-4c9367dc0958"
OPENED = {
    "action": "opened",
    "issue": {"id": 100, "number": 12, "title": "It crashes", "body": "…", "user": USER},
    "repository": {"id": 5, "full_name": "acme/app", "private": False},
    "sender": USER,
    "installation": {"id": 3},
}


def deliver(payload: Any = None, *, body: bytes | None = None, secret: str = SECRET, **headers: str) -> Any:
    """What `read` makes of a payload; headers by keyword replace the usual ones."""
    raw = json.dumps(OPENED if payload is None else payload).encode() if body is None else body
    named = {
        "Content-Type": "application/json",
        "X-GitHub-Event": "issues",
        "X-GitHub-Delivery": GUID,
        "X-Hub-Signature-256": sign(secret, raw),
    }
    named.update({name.replace("_", "-"): value for name, value in headers.items()})
    return read(named, raw, (SECRET, PREVIOUS))


def status(result: Accepted | Refused) -> int:
    return result.status if isinstance(result, Refused) else 202


class TestSignature:
    def test_g_published_vector(self) -> None:
        signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
        assert sign("It's a Secret to Everybody", b"Hello, World!") == signature
        assert is_signed(signature, b"Hello, World!", ["It's a Secret to Everybody"])
        assert not is_signed(signature, b"Hello, World?", ["It's a Secret to Everybody"])

    @pytest.mark.parametrize("secrets", [(), ("",)])
    def test_without_a_secret_nothing_is_valid(self, secrets: tuple[str, ...]) -> None:
        assert not is_signed(sign("", b"{}"), b"{}", secrets)

    @pytest.mark.parametrize("signature", ["", "sha256=", "sha1=ab", "ä", "sha256=" + "0" * 64, "\udc80"])
    def test_a_signature_of_another_form_does_not_match(self, signature: str) -> None:
        assert status(deliver(X_Hub_Signature_256=signature)) == 401

    def test_the_signature_comes_before_everything_else(self) -> None:
        assert status(deliver(secret="another", body=b"{")) == 401
        assert status(deliver(secret="another", X_GitHub_Event="ping")) == 401
        assert status(deliver(secret="another", Content_Type="text/plain")) == 401
        assert status(deliver(secret="another", X_GitHub_Delivery="")) == 401


class TestDecoding:
    def test_form_gives_the_same(self) -> None:
        body = urlencode({"payload": json.dumps(OPENED)}).encode()
        result = deliver(body=body, Content_Type="application/x-www-form-urlencoded; charset=utf-8")
        assert result == deliver()

    @pytest.mark.parametrize("kind", ["text/plain", "", "application/xml", "multipart/form-data; boundary=x"])
    def test_other_content_types_are_refused(self, kind: str) -> None:
        assert status(deliver(Content_Type=kind)) == 415


class TestMalformed:
    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"{",
            b'"\xed\xa0\x80"',
            b"[]",
            b"null",
            b'{"action": 7}',
            json.dumps({**OPENED, "issue": None}).encode(),
            json.dumps({**OPENED, "repository": {"id": 10**30, "full_name": "acme/app"}}).encode(),
        ],
    )
    def test_bodies_that_are_no_payload_are_400(self, body: bytes) -> None:
        assert status(deliver(body=body)) == 400

    @pytest.mark.parametrize("body", [b"", b"payload=", b"payload={", b"other={}", b"payload=%FF", b"a&" * 100])
    def test_forms_without_a_payload_are_400(self, body: bytes) -> None:
        assert status(deliver(body=body, Content_Type="application/x-www-form-urlencoded")) == 400

    @pytest.mark.parametrize("value", ["", " ", "a b", "x" * 101, "a~2", "é", "a\n"])
    def test_an_event_name_must_look_like_one(self, value: str) -> None:
        assert status(deliver(X_GitHub_Event=value)) == 400

    @pytest.mark.parametrize(
        "value",
        [
            "",
            "{{{}}}",
            "urn:uuid:{}",
            " {}",
            "{}\n",
            GUID.replace("-", ""),
            "{}é",
        ],
    )
    def test_a_delivery_id_must_be_a_guid(self, value: str) -> None:
        refused = deliver(X_GitHub_Delivery=value.format(GUID))
        assert isinstance(refused, Refused)
        assert refused.status == 400
        assert refused.reason.startswith("X-GitHub-Delivery is missing or no GUID")

    def test_a_payload_at_the_limit_is_read_and_a_larger_one_is_413(self) -> None:
        filler = b" " * (LARGEST_PAYLOAD - len(json.dumps(OPENED)))
        body = json.dumps(OPENED).encode() + filler
        assert status(deliver(body=body)) == 202
        assert status(deliver(body=body + b" ")) == 413


_names = st.sampled_from(["ping", "issues", "issue_comment", "installation", "repository", "push"]) | st.text(
    max_size=20
)
_kinds = st.sampled_from(["application/json", "application/x-www-form-urlencoded"]) | st.text(max_size=20)


class TestFuzz:
    @given(body=st.binary(max_size=200), name=_names, kind=_kinds, delivery=st.just(GUID) | st.text(max_size=20))
    def test_any_signed_bytes_give_a_result(self, body: bytes, name: str, kind: str, delivery: str) -> None:
        result = deliver(body=body, X_GitHub_Event=name, Content_Type=kind, X_GitHub_Delivery=delivery)
        assert status(result) in (202, 400, 415)

    @given(signature=st.text(max_size=80), body=st.binary(max_size=50))
    def test_any_unsigned_bytes_are_401(self, signature: str, body: bytes) -> None:
        assert status(deliver(body=body, X_Hub_Signature_256=signature)) == 401
