"""Every payload that GitHub publishes as an example, signed and posted: never a 5xx, and the right ones are queued.

The examples are npm's @octokit/webhooks-examples. Some are older than the manual and lack what today's deliveries have;
what matters is that none breaks the receiver and that none of today's is lost.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from bot.deliveries.webhook import sign
from bot.platform.settings import Settings
from bot.web import create_app
from handlers import ROUTES
from tests.conformance.conftest import MODULES

# GitHub's description takes seconds to read.
pytestmark = pytest.mark.slow

EXAMPLES = MODULES / "@octokit/webhooks-examples/api.github.com/index.json"
SECRET = "a-secret"
HANDLED = {(route.event, action) for route in ROUTES for action in route.actions}


@pytest.fixture(scope="module")
def examples() -> list[tuple[str, dict[str, Any]]]:
    """Pairs of event name and payload."""
    if not EXAMPLES.exists():
        pytest.skip("npm's @octokit/webhooks-examples is not installed: run `make conformance`")
    published = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    return [(event["name"], payload) for event in published for payload in event["examples"]]


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[FlaskClient]:
    settings = Settings(home=tmp_path, database_url=f"sqlite:///{tmp_path / 'doppel.db'}", webhook_secrets=(SECRET,))
    with create_app(settings).test_client() as client:
        yield client


def deliver(receiver: FlaskClient, delivery_id: str, name: str, payload: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    body = json.dumps(payload).encode()
    headers = {
        "Content-Type": "application/json",
        "X-GitHub-Delivery": delivery_id,
        "X-GitHub-Event": name,
        "X-Hub-Signature-256": sign(SECRET, body),
    }
    answer = receiver.post("/webhook", data=body, headers=headers)
    return answer.status_code, answer.get_json()


def test_no_published_example_breaks_the_receiver(
    receiver: FlaskClient, examples: list[tuple[str, dict[str, Any]]]
) -> None:
    answers = [deliver(receiver, str(uuid.UUID(int=i)), *example) for i, example in enumerate(examples)]
    refused = [(*example, answer) for example, answer in zip(examples, answers, strict=True) if answer[0] != 202]
    assert refused == []
    assert len(answers) > 300


def test_the_right_ones_are_queued(receiver: FlaskClient, examples: list[tuple[str, dict[str, Any]]]) -> None:
    seen = set()
    for i, (name, payload) in enumerate(examples):
        status = deliver(receiver, str(uuid.UUID(int=i)), name, payload)[1]["status"]
        action = payload.get("action", "")
        seen.add((name, action, status))
        if status == "queued":
            assert (name, action) in HANDLED
    assert ("ping", "", "pong") in seen
    # Every example of these has what its handler needs; edits and comments depend on what was changed and said.
    for name, action in HANDLED - {("issues", "edited"), ("push", "")}:
        statuses = {status for one, other, status in seen if (one, other) == (name, action)}
        if name != "issue_comment" and statuses:
            assert statuses == {"queued"}, f"{name}.{action}"
