"""The show keeps its word: what the bot owes is waited for, and what does not come is named.

The bot here is a few lines that act when the simulator delivers; the real one is in test_demo_command.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from bot.app.demo.scenario import Command, Expect, Scene
from bot.app.demo.show import Show, ShowFailed
from bot.app.demo.terminal import Lines
from bot.domain.decisions import Decision, DecisionOutcome, Evidence
from bot.simulator import Simulator

pytestmark = pytest.mark.slow

REPOSITORY = "acme/app"
ADVICE = "[#1](https://redirect.github.com/acme/app/issues/1) An earlier one"


def play(
    scene: Scene,
    bot: Callable[[Simulator, int], None],
    *,
    done: bool = True,
    noted: bool = True,
    patience: float = 60.0,
) -> list[dict[str, Any]]:
    """Play one scene with a bot that is told the number of the issue each time something is delivered."""

    def post(url: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, Mapping[str, str], str]:
        if headers["X-GitHub-Event"].startswith("issue"):
            bot(simulator, 2)
        return 202, {}, ""

    simulator = Simulator(webhook_url="http://bot.invalid/webhook", post=post)
    simulator.add_repository(REPOSITORY)
    simulator.open_issue(REPOSITORY, "ada", "It was so before")
    simulator.set_permission(REPOSITORY, "ada", "admin")
    simulator.install(REPOSITORY)

    def is_done(guid: str) -> bool:
        simulator.webhooks.join()
        return done

    found = (Evidence(1, 0.04, 1, shown=False),)
    kept = Decision(2, 0.0, "opened", "comment", DecisionOutcome.SILENT, 0.2, "the best was below the threshold", found)
    told: list[dict[str, Any]] = []
    processes: Any = SimpleNamespace(check=lambda: None, done=is_done, decided=lambda *_: kept if noted else None)
    try:
        Show(simulator, REPOSITORY, processes, Lines(told.append), patience).play([scene])
        return told[2:]
    finally:
        simulator.webhooks.stop()


def comments(simulator: Simulator, number: int, text: str = ADVICE) -> None:
    """A bot that comments once."""
    if not simulator.comments(REPOSITORY, number):
        simulator.comment(REPOSITORY, number, simulator.app.bot, text)


def silent(simulator: Simulator, number: int) -> None:
    """A bot that never says a word."""


def test_a_comment_that_names_what_it_should_is_shown_with_its_time() -> None:
    scene = Scene("h", "bea", "It is so again", "text", shows=(1,), unfold=True)
    commented, checked, finished = play(scene, comments)
    assert commented["event"] == "commented" and commented["body"] == ADVICE and commented["unfold"]
    assert "1 comment" in checked["what"] and finished["scenes"] == 1


def test_a_comment_that_never_comes_is_named() -> None:
    with pytest.raises(ShowFailed, match=r"no comment on #2 within 0\.5 s"):
        play(Scene("h", "bea", "t", "b"), silent, patience=0.5)


def test_a_comment_without_the_candidate_is_named() -> None:
    with pytest.raises(ShowFailed, match="does not name #11"):
        play(Scene("h", "bea", "t", "b", shows=(11,)), comments)


@pytest.mark.parametrize("text", ["cc @ada", "see #1", "Duplicate of #1"])
def test_a_comment_that_disturbs_others_is_named(text: str) -> None:
    with pytest.raises(ShowFailed, match="disturbs others"):
        play(Scene("h", "bea", "t", "b"), lambda simulator, number: comments(simulator, number, text))


def test_silence_is_work_done_without_a_comment() -> None:
    scene = Scene("h", "bea", "t", "b", Expect.SILENCE)
    said = play(scene, silent)[0]
    assert said["event"] == "stayed_silent"
    assert (said["reason"], said["bar"]) == ("the best was below the threshold", 0.2)
    assert said["nearest"] == (1, "It was so before", 0.04)
    said = play(scene, silent, noted=False)[0]
    assert (said["reason"], said["nearest"]) == ("it was not looked at", None)
    with pytest.raises(ShowFailed, match="no end of the work on #2"):
        play(scene, silent, done=False, patience=0.5)
    with pytest.raises(ShowFailed, match="was to stay silent on #2"):
        play(scene, comments)


def test_commands_wait_for_the_edit_the_reaction_and_the_closing() -> None:
    def obeys(simulator: Simulator, number: int) -> None:
        comments(simulator, number)
        advice, *rest = simulator.comments(REPOSITORY, number)
        for asked in rest:
            if "/duplicates of" in asked.body:
                original = simulator.issue(REPOSITORY, 1)
                simulator.close_issue(REPOSITORY, number, simulator.app.bot, "duplicate", original)
            else:
                simulator.edit_comment(advice, ADVICE + " [Cached result from 10:23:45 AM]")
            simulator.react(asked, simulator.app.bot, "+1")

    again = Command("bea", "/duplicates", "n", contains="Cached result from")
    of = Command("ada", "/duplicates of #1", "n", Expect.CLOSED)
    played = play(Scene("h", "bea", "t", "b", commands=(again, of)), obeys)
    assert [event["number"] for event in played if event["event"] == "edited"] == [2]
    assert [event["original"] for event in played if event["event"] == "issue_closed"] == [1]


def test_a_reply_that_comes_after_the_reaction_is_shown() -> None:
    def edits_reacts_and_replies(simulator: Simulator, number: int) -> None:
        comments(simulator, number)
        advice, *rest = simulator.comments(REPOSITORY, number)
        for asked in rest:
            if asked.author is not simulator.app.bot and not asked.reactions:
                simulator.edit_comment(advice, "Nothing left to show")
                simulator.react(asked, simulator.app.bot, "+1")
                time.sleep(0.2)
                simulator.comment(REPOSITORY, number, simulator.app.bot, "Noted")

    scene = Scene("h", "bea", "t", "b", commands=(Command("bea", "/duplicates not #1", "n", lacks=1),))
    played = play(scene, edits_reacts_and_replies)
    assert [event["body"] for event in played if event["event"] == "replied"] == ["Noted"]


def test_a_command_without_its_effect_is_named() -> None:
    scene = Scene("h", "bea", "t", "b", commands=(Command("bea", "/duplicates not #1", "n", lacks=1),))
    with pytest.raises(ShowFailed, match="no answer to '/duplicates not #1' on #2"):
        play(scene, comments, patience=3)
