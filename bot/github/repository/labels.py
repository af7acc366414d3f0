"""What happened to an issue, as GitHub keeps it.

https://docs.github.com/rest/issues/events
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from bot.errors import NotFound
from bot.github.api import convert
from bot.github.api.calls import Api
from bot.model import Actor, RepoRef

_MOST_EVENTS = 2_000


def issue_events(api: Api, repo: RepoRef, number: int) -> Iterator[Any]:
    """All events of an issue as GitHub tells them, the oldest first, 2,000 at most. Raises NotFound."""
    return api.pages(
        f"read the events of {repo}#{number}",
        partial(api.rest.issues.list_events, repo.owner, repo.name, number),
        most=_MOST_EVENTS,
    )


Confidence = Literal["low", "medium", "high"]

DUPLICATE = "duplicate"
"""GitHub gives this label to every new repository; it is used where it still exists."""

SUGGESTIONS_SINCE = "2026-03-10"
"""The version of the API from which on a label can be suggested; to an older one it is a label like any other."""

ADD_LABEL, CLOSE = "add_label", "close_issue"
"""What can be suggested, in GitHub's words."""

_MOST_SUGGESTIONS = 2_000


@dataclass(frozen=True, slots=True)
class LabelEvent:
    """A label was set on an issue or taken off it, at a time in seconds since 1970."""

    name: str
    added: bool
    actor: Actor
    at: float


def duplicate_label(names: Iterable[str]) -> str | None:
    """The label `duplicate` as it is written among these; None where it is none of them."""
    return next((name for name in names if name.lower() == DUPLICATE), None)


def label_events(api: Api, repo: RepoRef, number: int) -> list[LabelEvent]:
    """All that happened to an issue's labels, the oldest first. Raises NotFound."""
    return [
        LabelEvent(
            convert.label_name(data["label"]),
            data["event"] == "labeled",
            convert.actor(data.get("actor")),
            convert.moment(data["created_at"]).timestamp(),
        )
        for data in issue_events(api, repo, number)
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
    """All that was ever suggested on an issue; None where the repository lacks that.

    To ask is the only way to know, and without the feature a suggestion would be a label like any other.
    """
    try:
        listed = api.pages(
            f"read the suggestions on {repo}#{number}",
            partial(api.rest.issues.list_suggestions, repo.owner, repo.name, number, state="all"),
            most=_MOST_SUGGESTIONS,
        )
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
