"""All checks, in the order in which one would mend what they find."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from bot.doctor import databases, host
from bot.doctor.finding import Finding, Health
from bot.doctor.github import Wanted, github, token
from bot.embedding import Embedder
from bot.github.client import GitHub
from bot.settings import Settings, WrongSettings


def examine(
    read: Callable[[], Settings],
    misspelt: Mapping[str, str],
    unread: Sequence[int],
    parts: Callable[[], Sequence[str]],
    wanted: Wanted,
    door: Callable[[Settings], GitHub],
    model: Callable[[Settings], Embedder | None],
) -> Iterator[Finding]:
    """Look at everything, one finding at a time; nothing is changed, on this machine or on GitHub.

    `read` reads the settings, `misspelt` and `unread` are what `bot.settings.misspelt` and `unread_lines` found,
    `parts` asks `bot.settings.parts_of_an_app`, `door` makes what speaks with GitHub, and `model` what embeds texts,
    which is given a word to try.
    """
    yield from host.misspelt(misspelt)
    yield from host.unread(unread)
    try:
        settings = read()
    except WrongSettings as wrong:
        for problem in wrong.problems:
            name, _, says = problem.partition(": ")
            yield Finding(
                Health.BROKEN, name, says, "Mend this first; the rest is looked at once all settings are right."
            )
        return
    yield from host.credentials(settings)
    yield from host.stored_app(settings, parts())
    if not settings.new:
        yield host.dashboard(settings)
    yield from databases.writable(settings)
    yield from databases.schema(settings)
    yield from databases.at_work(settings)
    chosen = model(settings)
    yield host.model(settings, chosen)
    yield from databases.models_of_others(settings, chosen)
    yield from databases.indexes(settings)
    if settings.app_id and settings.private_key:
        yield from github(settings, wanted, door(settings).app())
    elif settings.github_token:
        yield token(settings, door(settings).user(settings.github_token))
