"""The orders of a result list ("Sorting search results", and the `sort` parameter of the REST endpoint)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from bot.simulator.search.document import Document

# Names of reactions in sort orders. `reactions_by_content` names three of them differently.
_CONTENTS = ("+1", "-1", "smile", "thinking_face", "heart", "tada")
_REACTION_NAMES = {"smile": "laugh", "thinking_face": "confused", "tada": "hooray"}

Key = Callable[[Document], float]


def _time(moment: datetime) -> float:
    return moment.timestamp()


def _reactions(content: str) -> Key:
    name = _REACTION_NAMES.get(content, content)
    return lambda document: document.reactions_by_content.get(name, 0)


_KEYS: dict[str, Key] = {
    "created": lambda document: _time(document.created_at),
    "updated": lambda document: _time(document.updated_at),
    "comments": lambda document: document.comment_count,
    "reactions": lambda document: document.reactions,
    "interactions": lambda document: document.reactions + document.comment_count,
    **{f"reactions-{content}": _reactions(content) for content in _CONTENTS},
}


def ordering(sort: str | None, order: str, qualifier: str) -> tuple[Key, bool] | None:
    """The sort key, and whether the greatest value comes first; None for best match.

    `sort` and `order` are REST's parameters. `qualifier` is the value of `sort:` in the query, such as `created` or
    `updated-asc`, and applies only without `sort`. Unknown names mean best match.
    """
    if sort:
        key = _KEYS.get(sort)
        return None if key is None else (key, order != "asc")
    ascending = qualifier.endswith("-asc")
    name = qualifier.removesuffix("-asc" if ascending else "-desc")
    key = _KEYS.get(name)
    return None if key is None else (key, not ascending)
