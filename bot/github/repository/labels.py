"""An issue's labels: their history, and the suggestions of new ones. https://docs.github.com/rest/issues/events"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from bot.errors import NotFound
from bot.github.api import convert
from bot.github.api.calls import Api
from bot.model import Actor, RepoRef

Confidence = Literal["low", "medium", "high"]

DUPLICATE = "duplicate"
"""GitHub gives this label to every new repository. The bot uses it where it still exists."""

SUGGESTIONS_SINCE = "2026-03-10"
"""The first version of the API that knows suggestions; an older one adds the label outright."""

_MOST = 2_000


@dataclass(frozen=True, slots=True)
class LabelEvent:
    """Somebody set a label on an issue or took it off, at a time in seconds since 1970."""

    name: str
    added: bool
    actor: Actor
    at: float


def duplicate_label(names: Iterable[str]) -> str | None:
    """The label `duplicate` as it is written among these names; None if it is not there."""
    return next((name for name in names if name.lower() == DUPLICATE), None)


def label_events(api: Api, repo: RepoRef, number: int) -> list[LabelEvent]:
    """The history of an issue's labels, oldest first. Raises NotFound."""
    events = partial(api.rest.issues.list_events, repo.owner, repo.name, number)
    return [
        LabelEvent(
            convert.label_name(data["label"]),
            data["event"] == "labeled",
            convert.actor(data.get("actor")),
            convert.moment(data["created_at"]).timestamp(),
        )
        for data in api.pages(f"read the events of {repo}#{number}", events, most=_MOST)
        if data["event"] in ("labeled", "unlabeled")
    ]


def suggested_labels(api: Api, repo: RepoRef, number: int) -> frozenset[str] | None:
    """All labels that were ever suggested on an issue; None if the repository has no suggestions.

    Nothing else tells whether it has, and without them GitHub would add a suggested label outright.
    """
    asked = partial(api.rest.issues.list_suggestions, repo.owner, repo.name, number, state="all")
    try:
        listed = api.pages(f"read the suggestions on {repo}#{number}", asked, most=_MOST)
        return frozenset(str(data.get("target_value") or "") for data in listed)
    except NotFound:
        return None
