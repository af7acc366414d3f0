"""The script of the show: the demo repository's issues, what people do, and how the bot must answer."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from bot.simulator import Simulator
from bot.simulator.operations.rows import IssueRow, read_rows
from bot.simulator.state.repositories import Role

HERE = Path(__file__).parent
REPOSITORY = "larkspool/larkspool"
# The project's three maintainers, and a person who sorts issues; everybody else is a visitor.
ROLES: dict[str, Role] = {"hedvig-l": "admin", "ostap-k": "maintain", "rnakamura": "write", "digikam-dan": "triage"}
ABOUT = "A photo and video timeline for your own server. It does not exist; its issues were written for this demo."


class Expect(StrEnum):
    """What the bot must do before the show goes on."""

    COMMENT = "comment"  # One advisory comment.
    SILENCE = "silence"  # The job is done, without a comment.
    EDIT = "edit"  # The advisory comment has changed.
    REPLY = "reply"  # The bot answers the command in a comment of its own.
    ANYTHING = "anything"  # The job is done, with a comment or without.
    CLOSED = "closed"  # The issue is closed as a duplicate.


@dataclass(frozen=True)
class SceneCommand:
    """A comment with a command. `contains` is a text that the edited comment, or the reply for `REPLY`, must have.

    `lacks` is an issue that the edited comment must not name (0: none). `CLOSED` ignores `contains` and `lacks`.
    """

    login: str
    text: str
    note: str
    expect: Expect = Expect.EDIT
    contains: str = ""
    lacks: int = 0


@dataclass(frozen=True)
class Scene:
    """A new issue, the candidates that the comment must name (`shows`), and the commands that follow.

    With `unfold`, the terminal shows the comment's folded part too.
    """

    heading: str
    login: str
    title: str
    body: str
    expect: Expect = Expect.COMMENT
    shows: tuple[int, ...] = ()
    unfold: bool = False
    commands: tuple[SceneCommand, ...] = ()
    created_at: datetime | None = None


def script() -> tuple[Scene, ...]:
    scenes = tomllib.loads((HERE / "scenes.toml").read_text("utf-8"))["scenes"]
    return TypeAdapter(tuple[Scene, ...]).validate_python(scenes)


# The least age of the demo's newest issue during a show.
NEWEST = timedelta(days=3)
# `split` lets at most this many of a file's last issues arrive in the show.
ARRIVALS = 4
# `split` repeats an issue only if its text has this many characters: shorter texts say too little to judge the bot.
MIN_BODY_LENGTH = 200


def seed(simulator: Simulator, repository: str, rows: Sequence[IssueRow] | None = None) -> int:
    """Create `repository` with `rows`, by default the demo's issues and forms; return the number of issues."""
    simulator.add_organization(repository.partition("/")[0])
    simulator.add_repository(repository)
    for login, role in ROLES.items():
        simulator.set_permission(repository, login, role)
    if rows is None:
        for form in sorted(HERE.glob("issue_template/*.yml")):
            simulator.write_file(repository, f".github/ISSUE_TEMPLATE/{form.name}", form.read_text("utf-8"))
        rows = recent_issues(simulator.now())
    count = simulator.load_rows(rows, repository)
    with simulator.lock:
        simulator.flush_index()
    return count


def recent_issues(now: datetime) -> list[IssueRow]:
    """The demo's issues, moved in time by whole days. The last is then as old as `NEWEST`, or up to a day older."""
    rows = read_rows(HERE / "issues.jsonl")
    later = timedelta(days=(now - NEWEST - rows[-1].created_at).days)
    return [
        replace(
            row,
            created_at=row.created_at + later,
            closed_at=row.closed_at and row.closed_at + later,
            comments=tuple(replace(comment, created_at=comment.created_at + later) for comment in row.comments),
        )
        for row in rows
    ]


def split(path: Path) -> tuple[list[IssueRow], tuple[Scene, ...]]:
    """Split a file into the issues that exist from the start, and scenes in which the file's last issues arrive.

    The first scene repeats the last duplicate that exists from the start and has enough text, if there is one. Raises
    the errors of `read_rows`, and ValueError for a file without issues.
    """
    rows = read_rows(path)
    if not rows:
        raise ValueError("there is no issue in it")
    # Keep at least four fifths of a small file, so that the bot finds something. But let at least one issue arrive.
    known = rows[: -max(1, min(ARRIVALS, len(rows) // 5))]
    # Keep the times of arrival. The bot uses them, because reports of one problem come close together.
    scenes = [
        Scene(
            "The file's next issue arrives", row.author, row.title, row.body, Expect.ANYTHING, created_at=row.created_at
        )
        for row in rows[len(known) :]
    ]
    repeatable = (
        n for n, row in enumerate(known, 1) if row.duplicate_of is not None and len(row.body) >= MIN_BODY_LENGTH
    )
    if number := max(repeatable, default=0):
        heading, row = f"The words of #{number} arrive once more", known[number - 1]
        # Another person must report it: two similar issues of one author are usually a series, not duplicates.
        when = known[-1].created_at
        again = Scene(heading, "somebody-else", row.title, row.body, shows=(number,), unfold=True, created_at=when)
        scenes.insert(0, again)
    return known, tuple(scenes)
