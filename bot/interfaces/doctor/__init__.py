"""Runs the checks of `doppel doctor` one after the other. Each reports findings, and how to mend them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from bot.github.client import GitHub
from bot.interfaces.doctor import checks
from bot.interfaces.doctor.checks import Finding, broken, warning
from bot.interfaces.doctor.databases import databases
from bot.platform.settings import Settings, WrongSettings, load, misspelt
from bot.search.embedding import Embedder

if TYPE_CHECKING:
    from bot.search.judge.prompt import Endpoint


def examine(
    permissions: Mapping[str, str],
    events: frozenset[str],
    make_github: Callable[[Settings], GitHub],
    make_model: Callable[[Settings], Embedder | None],
    make_endpoint: Callable[[Settings], Endpoint | None],
) -> Iterator[Finding]:
    """Run all checks. The findings to mend first come first. The checks change nothing, here or on GitHub.

    The App needs `permissions` and `events`. The functions make GitHub's client, the model and the judge's client.
    """
    for name, near in misspelt().items():
        mend = f"Did you mean {near}?" if near else "Remove it, or see docs/config.md for the names that are read."
        yield warning(name, "nothing reads a setting of this name", mend)
    try:
        settings = load()
    except WrongSettings as wrong:
        for problem in wrong.problems:
            name, _, says = problem.partition(": ")
            yield broken(name, says, "Mend this first: the other checks need right settings.")
        return
    yield from checks.credentials(settings)
    yield from databases(settings)
    yield checks.model(settings, make_model(settings))
    if settings.judge_url or settings.judge_model:
        yield checks.judge(settings, make_endpoint)
    if settings.app_id and settings.private_key:
        yield from checks.github(settings, permissions, events, make_github(settings).app())
    elif settings.github_token:
        yield checks.token(settings, make_github(settings).user(settings.github_token))
