"""Deliveries: what is sent, to whom, signed how, and what the log keeps."""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Callable

import pytest

from bot.simulator import Server, Simulator
from bot.simulator.deliveries import signature
from tests.simulator.conftest import Api, Receiver, sign

Heard = Callable[[], list[str]]


@pytest.fixture
def heard(sim: Simulator, receiver: Receiver) -> Heard:
    """Deliver to the receiver; the answer is what it heard so far."""
    sim.app.hook.url = receiver.url

    def names() -> list[str]:
        sim.webhooks.join()
        return receiver.names()

    return names


def test_g_the_published_signature_vector() -> None:
    assert signature("It's a Secret to Everybody", b"Hello, World!") == (
        "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    )


def test_headers_and_signature(server: Server, sim: Simulator, receiver: Receiver, heard: Heard) -> None:
    sim.open_issue("acme/app", "ada", "Ünïcode", "→ ok")
    heard()
    got = receiver.received[0]
    assert got.headers["X-Hub-Signature-256"] == signature(server.webhook_secret, got.body)
    assert got.headers["X-Hub-Signature"] == signature(server.webhook_secret, got.body, "sha1")
    assert got.headers["Content-Type"] == "application/json"
    assert got.headers["X-GitHub-Hook-Installation-Target-ID"] == str(server.app_id)
    assert got.headers["X-GitHub-Hook-Installation-Target-Type"] == "integration"
    assert got.headers["X-GitHub-Hook-ID"] == str(sim.app.hook.id)
    assert got.headers["User-Agent"].startswith("GitHub-Hookshot/")
    assert len(got.headers["X-GitHub-Delivery"]) == 36


def test_a_form_carries_the_payload_in_one_field(
    server: Server, sim: Simulator, receiver: Receiver, heard: Heard
) -> None:
    sim.app.hook.content_type = "form"
    sim.open_issue("acme/app", "ada", "A & B = C")
    sim.webhooks.join()
    got = receiver.received[0]
    assert got.headers["Content-Type"] == "application/x-www-form-urlencoded"
    assert got.headers["X-Hub-Signature-256"] == signature(server.webhook_secret, got.body)
    fields = urllib.parse.parse_qs(got.body.decode())
    assert json.loads(fields["payload"][0])["issue"]["title"] == "A & B = C"


def test_c1_everything_that_happens_to_issues_is_told_in_order(sim: Simulator, heard: Heard) -> None:
    sim.add_repository("acme/other")
    sim.open_issue("acme/app", "ada", "One", labels=["bug"])
    sim.edit_issue("acme/app", 1, title="First", body="Text")
    sim.edit_issue("acme/app", 1, title="First", body="Text")
    comment = sim.comment("acme/app", 1, "bea", "Me too")
    sim.edit_comment(comment, "Me as well")
    sim.react(comment, "ada", "+1")
    sim.delete_comment(comment, "ada")
    sim.remove_label("acme/app", 1, "bug")
    sim.lock_issue("acme/app", 1)
    sim.unlock_issue("acme/app", 1)
    sim.close_issue("acme/app", 1)
    sim.close_issue("acme/app", 1)
    sim.reopen_issue("acme/app", 1)
    sim.open_issue("acme/app", "ada", "Two")
    sim.transfer_issue("acme/app", 1, "acme/other")
    sim.delete_issue("acme/app", 2)
    assert heard() == [
        "issues.opened",
        "issues.labeled",
        "issues.edited",
        "issue_comment.created",
        "issue_comment.edited",
        "issue_comment.deleted",
        "issues.unlabeled",
        "issues.locked",
        "issues.unlocked",
        "issues.closed",
        "issues.reopened",
        "issues.opened",
        "issues.transferred",
        "issues.deleted",
    ]


def test_c1_installations_and_repositories(sim: Simulator, heard: Heard) -> None:
    sim.add_repository("acme/two")
    sim.install("acme/two")
    sim.rename_repository("acme/two", "deux")
    sim.set_private("acme/deux", True)
    sim.set_private("acme/deux", False)
    sim.archive_repository("acme/deux")
    sim.archive_repository("acme/deux", False)
    sim.write_file("acme/deux", ".github/doppel.yml", "mode: off\n")
    sim.transfer_repository("acme/deux", "zed")
    sim.remove_from_installation("acme/app")
    sim.install("acme/app")
    sim.delete_repository("acme/app")
    sim.suspend("acme")
    sim.suspend("acme", False)
    sim.set_permissions("acme", {"metadata": "read"})
    sim.uninstall("acme")
    assert heard() == [
        "installation_repositories.added",
        "repository.renamed",
        "repository.privatized",
        "repository.publicized",
        "repository.archived",
        "repository.unarchived",
        "push",
        "repository.transferred",
        "installation_repositories.removed",
        "installation_repositories.removed",
        "installation_repositories.added",
        "repository.deleted",
        "installation_repositories.removed",
        "installation.suspend",
        "installation.unsuspend",
        "installation.new_permissions_accepted",
        "installation.deleted",
    ]


def test_an_installation_on_everything_gets_what_is_made_later(
    sim: Simulator, receiver: Receiver, heard: Heard
) -> None:
    sim.add_repository("zed/first")
    sim.install("zed")
    sim.add_repository("zed/second")
    assert heard() == ["installation.created", "installation_repositories.added", "repository.created"]
    added = receiver.received[1].payload["repositories_added"]
    assert [repo["full_name"] for repo in added] == ["zed/second"]
    sim.delete_repository("zed/second")
    assert next(i for i in sim.installations.values() if i.account.login == "zed").all_repositories


def test_only_subscribed_events_and_always_those_about_installations(
    sim: Simulator, receiver: Receiver, heard: Heard
) -> None:
    sim.add_repository("zed/app")
    sim.app.events = ["issue_comment"]
    sim.install("zed/app")
    sim.open_issue("zed/app", "ada", "One")
    sim.comment("zed/app", 1, "ada", "Hello")
    assert heard() == ["installation.created", "issue_comment.created"]


def test_nothing_without_a_url_without_the_app_or_while_suspended(sim: Simulator, receiver: Receiver) -> None:
    sim.open_issue("acme/app", "ada", "Nobody listens yet")
    sim.app.hook.url = receiver.url
    sim.add_repository("zed/app")
    sim.open_issue("zed/app", "ada", "Not installed there")
    sim.suspend("acme")
    sim.open_issue("acme/app", "ada", "Suspended")
    sim.webhooks.join()
    assert receiver.names() == ["installation.suspend"]


def test_e3_a_hook_that_is_named_later_delivers_from_then_on(sim: Simulator, app: Api, receiver: Receiver) -> None:
    sim.open_issue("acme/app", "ada", "Before")
    shown = app.patch("/app/hook/config", {"url": receiver.url, "secret": "new", "content_type": "json"}).json()
    assert (shown["url"], shown["secret"]) == (receiver.url, "********")
    sim.open_issue("acme/app", "ada", "After")
    sim.webhooks.join()
    (got,) = receiver.received
    assert got.payload["issue"]["title"] == "After"
    assert got.headers["X-Hub-Signature-256"] == signature("new", got.body)


def test_g_failures_are_kept_not_retried_and_redelivered_under_the_same_guid(
    sim: Simulator, app: Api, receiver: Receiver, heard: Heard
) -> None:
    receiver.status = 503
    sim.open_issue("acme/app", "ada", "One")
    assert heard() == ["issues.opened"]
    (entry,) = app.get("/app/hook/deliveries").json()
    assert (entry["status_code"], entry["status"]) == (503, "Invalid HTTP Response: 503")
    receiver.status = 202
    assert app.post(f"/app/hook/deliveries/{entry['id']}/attempts").status_code == 202
    heard()
    again, _ = app.get("/app/hook/deliveries").json()
    assert [e["id"] for e in app.get("/app/hook/deliveries?status=failure").json()] == [entry["id"]]
    assert [e["id"] for e in app.get("/app/hook/deliveries?status=success").json()] == [again["id"]]
    assert (again["guid"], again["redelivery"], again["status"]) == (entry["guid"], True, "OK")
    assert receiver.received[0].headers["X-GitHub-Delivery"] == receiver.received[1].headers["X-GitHub-Delivery"]
    assert receiver.received[0].body == receiver.received[1].body
    full = app.get(f"/app/hook/deliveries/{again['id']}").json()
    assert full["request"]["payload"]["issue"]["title"] == "One"
    assert full["response"]["payload"] == "ok"


def test_a_receiver_that_is_not_there(sim: Simulator, app: Api) -> None:
    sim.app.hook.url = "http://127.0.0.1:9/webhook"
    sim.open_issue("acme/app", "ada", "One")
    sim.webhooks.join()
    (entry,) = app.get("/app/hook/deliveries").json()
    assert (entry["status_code"], entry["status"]) == (0, "failed to connect to host")
    for outcome in ("success", "failure"):
        assert app.get("/app/hook/deliveries", params={"status": outcome}).json() == []


def test_the_log_forgets_after_three_days(server: Server, sim: Simulator, heard: Heard) -> None:
    sim.open_issue("acme/app", "ada", "One")
    heard()
    sim.clock.advance(3 * 86_400 + 1)
    assert Api(server.url, sign(server)).get("/app/hook/deliveries").json() == []


def test_ping(sim: Simulator, receiver: Receiver, heard: Heard) -> None:
    sim.webhooks.ping(sim.app)
    assert heard() == ["ping"]
    assert receiver.received[0].payload["hook"]["app_id"] == sim.app.id
