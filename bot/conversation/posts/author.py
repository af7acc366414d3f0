"""Whose comments are the bot's own (C2). The marker alone tells nothing, since anybody can write it.

Both ways to run the bot know what the other one wrote, so that nothing is said twice where a repository moves from one
to the other (X2). Only what is installed in a repository, or its own workflows, writes there as a bot.
"""

from __future__ import annotations

from collections.abc import Callable

from bot.domain.entities import Actor, same_login

ACTIONS = "github-actions[bot]"
"""Who writes with the token that GitHub gives to a workflow."""

Ours = Callable[[Actor, int | None], bool]
"""Whether what this author wrote through that App, None for none, is the bot's own if it bears the marker."""


def of_app(app_id: int | None) -> Ours:
    """The App's own. A person who acts through the App bears its id too, and is no bot."""
    return lambda author, app: author.is_bot and (app == app_id or same_login(author.login, ACTIONS))


def of_token(login: Callable[[], str]) -> Ours:
    """For a workflow, which cannot know what App ran here before: any bot's, and those of whoever the token is."""
    return lambda author, app: author.is_bot or same_login(author.login, login())
