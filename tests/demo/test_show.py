"""The show keeps its word: what the bot owes is waited for, and what does not come is named.

The bot here is a few lines that act when the simulator delivers; the real one is in test_demo_command.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from bot.app.demo.scenario import Expect, Scene, SceneCommand
from bot.app.demo.show import Show, ShowFailed
from bot.app.demo.terminal import Lines
from bot.domain.decisions import Decision, DecisionOutcome
from bot.domain.report import Evidence
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


def test_a_comment_that_never_comes_is_named() -> None:
    with pytest.raises(ShowFailed, match=r"no comment on #2 within 0\.5 s"):
        play(Scene("h", "bea", "t", "b"), silent, patience=0.5)


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


def test_a_command_without_its_effect_is_named() -> None:
    scene = Scene("h", "bea", "t", "b", commands=(SceneCommand("bea", "/duplicates not #1", "n", lacks=1),))
    with pytest.raises(ShowFailed, match="no answer to '/duplicates not #1' on #2"):
        play(scene, comments, patience=3)
