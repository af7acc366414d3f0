"""Plays the scenes against the simulator and tells what happens, event by event.

It acts as the people in the script do and waits for what they are owed. What does not happen within its bound ends
the show with a ShowFailed that names it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from bot.decisions.model import Decision
from bot.demo.events import (
    Checked,
    CommandGiven,
    Commented,
    Edited,
    Event,
    Finished,
    IssueClosed,
    IssueOpened,
    Replied,
    SceneBegins,
    StayedSilent,
)
from bot.demo.scenario import Command, Expect, Scene
from bot.errors import DoppelError
from bot.simulator import Simulator, references
from bot.simulator.state.issues import Comment, Issue

T = TypeVar("T")

# At rest an answer takes about a second; a loaded machine may need several.
PATIENCE_SECONDS = 15.0
POLL_SECONDS = 0.02


class ShowFailed(DoppelError):
    """Something that the script promises did not happen; the message says what."""


@dataclass(frozen=True, slots=True)
class Backstage:
    """What the show must ask of the processes.

    `check` raises when one has ended; `done` tells whether the work of a delivery (by its id) is over, and `decided`
    what the last look at an issue came to.
    """

    check: Callable[[], None]
    done: Callable[[str], bool]
    decided: Callable[[int], Decision | None]


class Show:
    """One run of the scenes in one repository; nothing is waited for longer than `patience` seconds."""

    def __init__(
        self, simulator: Simulator, repository: str, backstage: Backstage, patience: float = PATIENCE_SECONDS
    ) -> None:
        self._sim, self._repository, self._backstage = simulator, repository, backstage
        self._patience = patience

    def play(self, scenes: Sequence[Scene]) -> Iterator[Event]:
        """Play all scenes; raises ShowFailed."""
        began = time.monotonic()
        for number, scene in enumerate(scenes, 1):
            yield SceneBegins(number, len(scenes), scene.heading)
            yield from self._scene(scene)
        yield self._nobody_was_disturbed()
        yield Finished(len(scenes), time.monotonic() - began)

    def _silence(self, issue: Issue, seconds: float) -> Event:
        decision = self._backstage.decided(issue.number)
        if decision is None:
            # As of an issue that a bot has opened.
            return StayedSilent(issue.number, seconds, "it was not looked at", 0.0, None)
        nearest = [
            (one.number, self._sim.issue(self._repository, one.number).title, one.probability)
            for one in decision.evidence
            if one.own
        ]
        return StayedSilent(issue.number, seconds, decision.reason, decision.bar, next(iter(nearest), None))

    def _scene(self, scene: Scene) -> Iterator[Event]:
        issue = self._sim.open_issue(
            self._repository, scene.login, scene.title, scene.body, created_at=scene.created_at
        )
        opened = time.monotonic()
        yield IssueOpened(issue.number, scene.title, scene.body, scene.login)
        if scene.expect in (Expect.SILENCE, Expect.ANYTHING):
            self._wait_for_the_end(issue)
            if self._advice(issue) is None:
                seconds = time.monotonic() - opened
                yield self._silence(issue, seconds)
                return
            if scene.expect is Expect.SILENCE:
                raise ShowFailed(f"the bot was to stay silent on #{issue.number} and commented")
        comment = self._wait(f"comment on #{issue.number}", lambda: self._advice(issue))
        for number in scene.shows:
            if f"/issues/{number})" not in comment.body:
                raise ShowFailed(f"the comment on #{issue.number} does not name #{number}")
        yield Commented(issue.number, comment.body, time.monotonic() - opened, scene.unfold)
        for command in scene.commands:
            yield from self._command(command, issue, comment)

    def _wait_for_the_end(self, issue: Issue) -> None:
        guid = self._delivery_of("issue", "number", issue.number)
        self._wait(f"end of the work on #{issue.number}", lambda: self._backstage.done(guid))

    def _command(self, command: Command, issue: Issue, advice: Comment) -> Iterator[Event]:
        before = advice.body
        yield CommandGiven(issue.number, command.login, command.text, command.note)
        asked = self._sim.comment(self._repository, issue.number, command.login, command.text)
        given = time.monotonic()
        what = f"answer to {command.text.splitlines()[-1]!r} on #{issue.number}"
        self._wait(what, lambda: self._acknowledged(asked) and self._answered(command, asked, advice, before))
        # The reply, where there is one, comes after the 👍.
        guid = self._delivery_of("comment", "id", asked.id)
        self._wait(f"end of the {what}", lambda: self._backstage.done(guid))
        seconds = time.monotonic() - given
        for reply in self._replies(asked):
            yield Replied(issue.number, reply.body, seconds)
        if advice.body != before:
            yield Edited(issue.number, before, advice.body, seconds)
        if issue.state == "closed" and issue.duplicate_of is not None:
            yield IssueClosed(issue.number, issue.duplicate_of.number, seconds)

    def _answered(self, command: Command, asked: Comment, advice: Comment, before: str) -> bool:
        if command.expect is Expect.CLOSED:
            return asked.issue.state == "closed" and asked.issue.state_reason == "duplicate"
        if command.expect is Expect.REPLY:
            return any(command.contains in reply.body for reply in self._replies(asked))
        named = command.lacks and f"/issues/{command.lacks})" in advice.body
        return advice.body != before and command.contains in advice.body and not named

    def _replies(self, asked: Comment) -> list[Comment]:
        """What the bot wrote after a command."""
        comments = self._sim.comments(self._repository, asked.issue.number)
        return [one for one in comments[comments.index(asked) :] if one.author is self._sim.app.bot]

    def _acknowledged(self, asked: Comment) -> bool:
        """The command's comment carries the bot's 👍 (C4)."""
        return any(reaction.content == "+1" for reaction in asked.reactions)

    def _advice(self, issue: Issue) -> Comment | None:
        comments = self._sim.comments(self._repository, issue.number)
        return next((comment for comment in comments if comment.author is self._sim.app.bot), None)

    def _delivery_of(self, what: str, key: str, value: int) -> str:
        for delivery in reversed(self._sim.webhooks.log):
            if delivery.payload.get(what, {}).get(key) == value:
                return delivery.guid
        raise ShowFailed(f"nothing was delivered for the {what} {value}")

    def _nobody_was_disturbed(self) -> Event:
        """What the bot wrote, read as GitHub reads it: whom it would notify and where it would leave a back-link."""
        repository = self._sim.repository(self._repository)
        with self._sim.lock:
            written = [c for issue in self._sim.issues_of(repository) for c in issue.comments]
            written = [comment for comment in written if comment.author is self._sim.app.bot]
        for comment in written:
            found = references.parse(comment.body, self._sim.urls.html)
            if found.mentions or found.issues or found.duplicate_of:
                raise ShowFailed(f"the comment on #{comment.issue.number} disturbs others: {found}")
        return Checked(f"in {len(written)} comments the bot mentioned nobody and left no back-link on any issue")

    def _wait(self, what: str, happened: Callable[[], T | None]) -> T:
        end = time.monotonic() + self._patience
        while not (result := happened()):
            self._backstage.check()
            if time.monotonic() > end:
                raise ShowFailed(f"no {what} within {self._patience:g} s")
            time.sleep(POLL_SECONDS)
        return result
