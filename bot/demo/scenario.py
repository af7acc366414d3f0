"""The script of the show: what people do in the demo repository, and what they are then owed."""

from __future__ import annotations

import tomllib
from datetime import datetime
from enum import StrEnum
from importlib import resources

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from bot.simulator.state.repositories import Role

REPOSITORY = "larkspool/larkspool"
# Roles of the people who are more than visitors (the project's three maintainers, and somebody who sorts issues).
ROLES: dict[str, Role] = {"hedvig-l": "admin", "ostap-k": "maintain", "rnakamura": "write", "digikam-dan": "triage"}
ABOUT = "A photo and video timeline for your own server. It does not exist; its issues were written for this demo."


class Expect(StrEnum):
    """What the bot must do before the show goes on."""

    COMMENT = "comment"  # One advisory comment.
    SILENCE = "silence"  # The work is done and nothing was posted.
    EDIT = "edit"  # The advisory comment has changed.
    REPLY = "reply"  # The command has a comment of its own as its answer.
    ANYTHING = "anything"  # The work is done, with a comment or without.
    CLOSED = "closed"  # The issue is closed as a duplicate.


@dataclass(frozen=True)
class Command:
    """A comment with a command on the scene's issue.

    Afterwards the advisory comment (or the reply, where one is expected) must hold the text `contains` and not name the
    issue `lacks`.
    """

    login: str
    text: str
    note: str
    expect: Expect = Expect.EDIT
    contains: str = ""
    lacks: int = 0


@dataclass(frozen=True)
class Scene:
    """A new issue, what must come of it, and the commands that follow.

    `shows` are candidates that must be named; `created_at` is when the issue is opened, None for now.
    """

    heading: str
    login: str
    title: str
    body: str
    expect: Expect = Expect.COMMENT
    shows: tuple[int, ...] = ()
    unfold: bool = False
    commands: tuple[Command, ...] = ()
    created_at: datetime | None = None


def script() -> tuple[Scene, ...]:
    """The scenes of the made-up repository."""
    written = tomllib.loads(resources.files("bot.demo").joinpath("scenes.toml").read_text("utf-8"))
    return TypeAdapter(tuple[Scene, ...]).validate_python(written["scenes"])
