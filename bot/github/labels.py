"""An issue's labels: their history, and the suggestions of new ones. https://docs.github.com/rest/issues/events"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from bot.domain.entities import Actor, RepoRef
from bot.domain.errors import NotFound
from bot.github import convert
from bot.github.calls import Api

Confidence = Literal["low", "medium", "high"]

DUPLICATE = "duplicate"
"""GitHub gives this label to every new repository. The bot uses it where it still exists."""

SUGGESTIONS_SINCE = "2026-03-10"
"""The first version of the API that knows suggestions; an older one adds the label outright."""

ADD_LABEL, CLOSE = "add_label", "close_issue"
"""What can be suggested, in GitHub's words."""

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


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What somebody suggested to do with an issue, and what came of it (GitHub's words, `pending` to `invalidated`).

    `target` is the database id of the label, or of the original that it would be closed for; `value` the label's name.
    `by` is the id of the maintainer who approved or dismissed it, at a time in seconds since 1970.
    """

    action: str
    state: str
    target: int
    value: str
    by: int
    at: float


def suggestions(api: Api, repo: RepoRef, number: int) -> tuple[Suggestion, ...] | None:
    """All that was ever suggested on an issue; None if the repository has no suggestions.

    Nothing else tells whether it has, and without them GitHub would add a suggested label outright.
    """
    asked = partial(api.rest.issues.list_suggestions, repo.owner, repo.name, number, state="all")
    try:
        listed = api.pages(f"read the suggestions on {repo}#{number}", asked, most=_MOST)
        return tuple(
            Suggestion(
                data["action"],
                data["state"],
                data.get("target_id") or 0,
                str(data.get("target_value") or ""),
                data.get("resolved_by") or 0,
                convert.moment(data["updated_at"]).timestamp(),
            )
            for data in listed
        )
    except NotFound:
        return None
