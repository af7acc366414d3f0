"""Files that are written over REST: by whom, over what, and who hears of it."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from bot.simulator import Simulator
from tests.simulator.conftest import Api, Receiver

PATH = "/repos/acme/app/contents/.github/doppel.yml"


def body(text: bytes, **more: str) -> dict[str, Any]:
    return {"message": "Say less", "content": base64.encodebytes(text).decode()} | more


def test_a_file_is_made_and_then_replaced_by_the_sha_of_what_is_there(
    sim: Simulator, person: Callable[..., Api], receiver: Receiver
) -> None:
    sim.app.hook.url = receiver.url
    mae = person("mae", "write")
    made = mae.put(PATH, body(b"mode: off\n"))
    assert made.status_code == 201
    first = made.json()
    # Git's own answer: printf 'mode: off\n' | git hash-object --stdin
    assert first["content"]["sha"] == "9a03a5c20e1360372c96d3deeb979ff06eca4f86"
    assert first["commit"]["parents"] == []
    changed = mae.put(PATH, body(b"mode: shadow\n", sha=first["content"]["sha"], branch="main"))
    assert changed.status_code == 200
    assert changed.json()["commit"]["parents"][0]["sha"] == first["commit"]["sha"]
    assert mae.get(PATH, headers={"Accept": "application/vnd.github.raw+json"}).content == b"mode: shadow\n"
    sim.webhooks.join()
    added, modified = (got.payload for got in receiver.received)
    assert receiver.names() == ["push", "push"]
    assert added["head_commit"]["added"] == modified["head_commit"]["modified"] == [".github/doppel.yml"]
    assert (added["after"], modified["before"]) == (first["commit"]["sha"], first["commit"]["sha"])
    assert (added["ref"], added["sender"]["login"]) == ("refs/heads/main", "mae")
    assert added["head_commit"]["message"] == first["commit"]["message"] == "Say less"


def test_writing_needs_the_right_to(sim: Simulator, person: Callable[..., Api], bot: Api) -> None:
    for role in ("read", "triage"):
        assert person(f"with-{role}", role).put(PATH, body(b"x")).status_code == 403
    assert bot.put(PATH, body(b"x")).status_code == 403, "the App asks to read contents only"
    assert sim.repository("acme/app").files == {}


def test_the_root_is_found_by_the_name_that_the_repository_had(sim: Simulator, person: Callable[..., Api]) -> None:
    """The client is sent on to the repository's id, and the root's path ends with the slash that others lack."""
    mae = person("mae", "read")
    sim.write_file("acme/app", "README.md", "Hello")
    sim.rename_repository("acme/app", "renamed")
    answer = mae.get("/repos/acme/app/contents/", allow_redirects=True)
    assert [entry["name"] for entry in answer.json()] == ["README.md"]
    assert mae.get("/repos/acme/renamed/contents/missing").status_code == 404
    assert sim.unknown_requests == []
