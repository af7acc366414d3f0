"""Plays the scenes against the simulator: it does what the people in the script do, and waits for the bot.

If the bot does not do in time what the script promises, a ShowFailed names it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from bot.app.demo.processes import Processes
from bot.app.demo.scenario import Command, Expect, Scene
from bot.app.demo.terminal import Lines, Terminal
from bot.domain.errors import DoppelError
from bot.simulator import Simulator, references
from bot.simulator.state.issues import Comment, Issue

T = TypeVar("T")

# An answer takes about a second, and several on a busy machine.
PATIENCE_SECONDS = 15.0
POLL_SECONDS = 0.02


class ShowFailed(DoppelError):
    """Something that the script promises did not happen. The message names it."""


class Show:
    """A show in one repository of the simulator, reported to `tell`; each wait takes at most `patience` seconds."""

    def __init__(
        self,
        simulator: Simulator,
        repository: str,
        bot: Processes,
        tell: Terminal | Lines,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self._sim, self._repository, self._bot, self._tell = simulator, repository, bot, tell
        self._patience = patience

    def play(self, scenes: Sequence[Scene]) -> None:
        """Play all scenes; raises ShowFailed."""
        began = time.monotonic()
        for number, scene in enumerate(scenes, 1):
            self._tell.scene_begins(number=number, total=len(scenes), heading=scene.heading)
            self._play(scene)
        self._tell.checked(what=self._nobody_was_disturbed())
        self._tell.finished(scenes=len(scenes), seconds=time.monotonic() - began)

    def _play(self, scene: Scene) -> None:
        issue = self._sim.open_issue(
            self._repository, scene.login, scene.title, scene.body, created_at=scene.created_at
        )
        number, opened = issue.number, time.monotonic()
        self._tell.issue_opened(number=number, title=scene.title, body=scene.body, login=scene.login)
        if scene.expect is not Expect.COMMENT:
            self._wait_for_the_end(f"work on #{number}", "issue", "number", number)
            if self._advice(issue) is None:
                self._tell_of_silence(number, time.monotonic() - opened)
                return
            if scene.expect is Expect.SILENCE:
                raise ShowFailed(f"the bot was to stay silent on #{number} and commented")
        comment = self._wait(f"comment on #{number}", lambda: self._advice(issue))
        for shown in scene.shows:
            if f"/issues/{shown})" not in comment.body:
                raise ShowFailed(f"the comment on #{number} does not name #{shown}")
        seconds = time.monotonic() - opened
        self._tell.commented(number=number, body=comment.body, seconds=seconds, unfold=scene.unfold)
        for command in scene.commands:
            self._obey(command, issue, comment)

    def _tell_of_silence(self, number: int, seconds: float) -> None:
        decision = self._bot.decided(self._sim.repository(self._repository).id, number)
        # There is no decision about an issue that a bot has opened.
        reason, bar = (decision.reason, decision.bar) if decision else ("it was not looked at", 0.0)
        own = next((one for one in decision.evidence if one.own), None) if decision else None
        title = self._sim.issue(self._repository, own.number).title if own else ""
        nearest = (own.number, title, own.probability) if own else None
        self._tell.stayed_silent(number=number, seconds=seconds, reason=reason, bar=bar, nearest=nearest)

    def _obey(self, command: Command, issue: Issue, advice: Comment) -> None:
        before, number = advice.body, issue.number
        self._tell.command_given(number=number, login=command.login, text=command.text, note=command.note)
        asked = self._sim.comment(self._repository, number, command.login, command.text)
        given = time.monotonic()
        what = f"answer to {command.text.splitlines()[-1]!r} on #{number}"
        self._wait(what, lambda: self._acknowledged(asked) and self._answered(command, asked, advice, before))
        # A reply comes after the 👍.
        self._wait_for_the_end(what, "comment", "id", asked.id)
        seconds = time.monotonic() - given
        for reply in self._replies(asked):
            self._tell.replied(number=number, body=reply.body, seconds=seconds)
        if advice.body != before:
            self._tell.edited(number=number, before=before, body=advice.body, seconds=seconds)
        if issue.state == "closed" and issue.duplicate_of is not None:
            self._tell.issue_closed(number=number, original=issue.duplicate_of.number, seconds=seconds)

    def _answered(self, command: Command, asked: Comment, advice: Comment, before: str) -> bool:
        if command.expect is Expect.CLOSED:
            return asked.issue.state == "closed" and asked.issue.state_reason == "duplicate"
        if command.expect is Expect.REPLY:
            return any(command.contains in reply.body for reply in self._replies(asked))
        named = command.lacks and f"/issues/{command.lacks})" in advice.body
        return advice.body != before and command.contains in advice.body and not named

    def _replies(self, asked: Comment) -> list[Comment]:
        """The bot's comments after a command."""
        comments = self._sim.comments(self._repository, asked.issue.number)
        return [one for one in comments[comments.index(asked) :] if one.author is self._sim.app.bot]

    def _acknowledged(self, asked: Comment) -> bool:
        """Whether the command's comment has the bot's 👍 (C4)."""
        return any(reaction.content == "+1" for reaction in asked.reactions)

    def _advice(self, issue: Issue) -> Comment | None:
        comments = self._sim.comments(self._repository, issue.number)
        return next((comment for comment in comments if comment.author is self._sim.app.bot), None)

    def _nobody_was_disturbed(self) -> str:
        """Check, as GitHub reads them, that the bot's comments notify nobody and leave no back-links."""
        with self._sim.lock:
            issues = self._sim.issues_of(self._sim.repository(self._repository))
            written = [one for issue in issues for one in issue.comments if one.author is self._sim.app.bot]
        for comment in written:
            found = references.parse(comment.body, self._sim.urls.html)
            if found.mentions or found.issues or found.duplicate_of:
                raise ShowFailed(f"the comment on #{comment.issue.number} disturbs others: {found}")
        return f"in {len(written)} comments the bot mentioned nobody and left no back-link on any issue"

    def _wait_for_the_end(self, what: str, kind: str, key: str, value: int) -> None:
        """Wait until the job of the latest delivery about an issue or a comment is done."""
        log = reversed(self._sim.webhooks.log)
        guid = next(one.guid for one in log if one.payload.get(kind, {}).get(key) == value)
        self._wait(f"end of the {what}", lambda: self._bot.done(guid))

    def _wait(self, what: str, happened: Callable[[], T | None]) -> T:
        end = time.monotonic() + self._patience
        while not (result := happened()):
            self._bot.check()
            if time.monotonic() > end:
                raise ShowFailed(f"no {what} within {self._patience:g} s")
            time.sleep(POLL_SECONDS)
        return result
