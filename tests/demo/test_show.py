"""What the bot owes and does not do is named; that all goes well is in test_demo_command.py, with the real bot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from bot.app.demo.scenario import Expect, Scene, SceneCommand
from bot.app.demo.show import Show, ShowFailed
from bot.app.demo.terminal import Lines
from bot.simulator import Simulator

pytestmark = pytest.mark.slow

REPOSITORY = "acme/app"
ADVICE = "[#1](https://redirect.github.com/acme/app/issues/1) An earlier one"


def play(scene: Scene, bot: Callable[[Simulator, int], None], patience: float = 60.0) -> None:
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

    processes: Any = SimpleNamespace(check=lambda: None, done=lambda _: simulator.webhooks.join() is None)
    try:
        Show(simulator, REPOSITORY, processes, Lines(lambda _: None), patience).play([scene])
    finally:
        simulator.webhooks.stop()


def comments(simulator: Simulator, number: int, text: str = ADVICE) -> None:
    """A bot that comments once."""
    if not simulator.comments(REPOSITORY, number):
        simulator.comment(REPOSITORY, number, simulator.app.bot, text)


def test_a_comment_that_never_comes_is_named() -> None:
    with pytest.raises(ShowFailed, match=r"no comment on #2 within 0\.5 s"):
        play(Scene("h", "bea", "t", "b"), lambda *_: None, patience=0.5)


@pytest.mark.parametrize("text", ["cc @ada", "see #1", "Duplicate of #1"])
def test_a_comment_that_disturbs_others_is_named(text: str) -> None:
    with pytest.raises(ShowFailed, match="disturbs others"):
        play(Scene("h", "bea", "t", "b"), lambda simulator, number: comments(simulator, number, text))


def test_a_comment_where_the_bot_was_to_stay_silent_is_named() -> None:
    with pytest.raises(ShowFailed, match="was to stay silent on #2"):
        play(Scene("h", "bea", "t", "b", Expect.SILENCE), comments)


def test_a_command_without_its_effect_is_named() -> None:
    scene = Scene("h", "bea", "t", "b", commands=(SceneCommand("bea", "/duplicates not #1", "n", lacks=1),))
    with pytest.raises(ShowFailed, match="no answer to '/duplicates not #1' on #2"):
        play(scene, comments, patience=3)
