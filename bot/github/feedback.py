"""Reads feedback: votes (👍 and 👎) on comments, label events, and answers to suggestions. Also folds comments.

GitHub sends no event for a reaction, so the bot polls. REST needs two requests per comment, and its ETags expire with
the token, after an hour. GraphQL reads fifty comments for the price of one or two requests. See `Reactable.reactions`,
`minimizeComment` and `ReportedContentClassifiers` in https://docs.github.com/graphql/reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from bot.domain.entities import Actor, RepoRef
from bot.domain.errors import Forbidden, GitHubError, NotFound
from bot.github import convert
from bot.github.calls import Api

PAGE = 50
"""The most comments in a request."""

# The most votes of each kind to read from a comment, latest first. If a comment has more votes,
# `Votes.since` says how far back the bot read, and older votes stay in the store.
MOST = 20
_LATEST = f"first: {MOST}, orderBy: {{field: CREATED_AT, direction: DESC}}"
_QUERY = f"""query Votes($ids: [ID!]!) {{
  rateLimit {{ remaining limit }}
  nodes(ids: $ids) {{
    ... on IssueComment {{
      id isMinimized minimizedReason
      issue {{ locked author {{ login }} }}
      up: reactions(content: THUMBS_UP, {_LATEST}) {{ ...votes }}
      down: reactions(content: THUMBS_DOWN, {_LATEST}) {{ ...votes }}
    }}
  }}
}}
fragment votes on ReactionConnection {{ totalCount nodes {{ createdAt user {{ login }} }} }}"""

_FOLD = """mutation Fold($id: ID!) {
  minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) { minimizedComment { isMinimized } }
}"""
_UNFOLD = """mutation Unfold($id: ID!) {
  unminimizeComment(input: {subjectId: $id}) { unminimizedComment { isMinimized } }
}"""
FOLDED_AS = "outdated"
"""The reason that GitHub shows on a comment folded by `fold`."""


@dataclass(frozen=True, slots=True)
class Vote:
    """A person's 👍 or 👎. `at` is in seconds since 1970."""

    login: str
    up: bool
    at: float


@dataclass(frozen=True, slots=True)
class Votes:
    """The votes on a comment. `author` opened the issue (empty: unknown). `folded` is the reason for a fold, or empty.

    `since` has the kinds (True: 👍, False: 👎) of which the bot read only the latest votes. A kind's value is the time
    of the earliest vote read, in seconds since 1970. `locked`: whether the issue is locked.
    """

    author: str
    votes: tuple[Vote, ...]
    folded: str
    since: Mapping[bool, float]
    locked: bool


@dataclass(frozen=True, slots=True)
class VotesPage:
    """`found` maps node ids of comments to their votes. A missing comment was deleted or is hidden from the token.

    `remaining` and `limit` are the hour's budget, None if GitHub sets no limit.
    """

    found: Mapping[str, Votes] = field(default_factory=dict)
    remaining: int | None = None
    limit: int | None = None


def votes(api: Api, node_ids: Sequence[str]) -> VotesPage:
    """The votes on at most PAGE comments. Raises GitHubError, RateLimited and Unavailable."""
    data, errors = api.graphql("read the reactions to comments", _QUERY, {"ids": list(node_ids[:PAGE])})
    nodes = data.get("nodes")
    if nodes is None:
        raise GitHubError("read the reactions to comments", 200, "; ".join(error.message for error in errors)[:200])
    budget = data.get("rateLimit") or {}
    found = {node["id"]: _votes(node) for node in nodes if node and node.get("id")}
    return VotesPage(found, budget.get("remaining"), budget.get("limit"))


def fold(api: Api, node_id: str) -> None:
    """Fold a comment as outdated. Raises NotFound, Forbidden, GitHubError, RateLimited and Unavailable."""
    _change(api, "fold a comment", _FOLD, node_id)


def unfold(api: Api, node_id: str) -> None:
    """Show a folded comment again. Raises the same errors as `fold`."""
    _change(api, "unfold a comment", _UNFOLD, node_id)


def _change(api: Api, operation: str, query: str, node_id: str) -> None:
    _, errors = api.graphql(operation, query, {"id": node_id})
    if errors:
        kinds = {"NOT_FOUND": (NotFound, 404), "FORBIDDEN": (Forbidden, 403)}
        refusal, status = kinds.get(errors[0].type or "", (GitHubError, 200))
        raise refusal(operation, status, errors[0].message)


def _votes(node: Mapping[str, Any]) -> Votes:
    found = [
        Vote(vote["user"]["login"], up, convert.moment(vote["createdAt"]).timestamp())
        for name, up in (("up", True), ("down", False))
        for vote in node[name]["nodes"] or ()
        if vote and vote["user"]
    ]
    issue = node.get("issue") or {}
    author = (issue.get("author") or {}).get("login") or ""
    folded = (node.get("minimizedReason") or "folded").lower() if node["isMinimized"] else ""
    since = {
        up: convert.moment(read[-1]["createdAt"]).timestamp()
        for name, up in (("up", True), ("down", False))
        if (read := node[name]["nodes"]) and len(read) < node[name]["totalCount"]
    }
    return Votes(author, tuple(found), folded, since, bool(issue.get("locked")))


Confidence = Literal["low", "medium", "high"]
"""GitHub's word for how sure a suggestion is, not a probability."""

DUPLICATE = "duplicate"
"""A label that GitHub creates in every new repository. The bot uses the label wherever it still exists."""

SUGGESTIONS_SINCE = "2026-03-10"
"""The first version of the API with suggestions. With an older version, GitHub would add a suggested label at once."""

ADD_LABEL, CLOSE = "add_label", "close_issue"
"""GitHub's names for the two actions that a suggestion can have."""

# The most events or suggestions to read from an issue.
_MOST_ENTRIES = 2_000


@dataclass(frozen=True, slots=True)
class LabelEvent:
    """Somebody added a label to an issue or removed one. `at` is in seconds since 1970."""

    name: str
    added: bool
    actor: Actor
    at: float


def duplicate_label(names: Iterable[str]) -> str | None:
    """The label `duplicate` as spelt among these names; None if the label is absent."""
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
        for data in api.pages(f"read the events of {repo}#{number}", events, most=_MOST_ENTRIES)
        if data["event"] in ("labeled", "unlabeled")
    ]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggested action on an issue. `state` is GitHub's word, such as `pending` or `invalidated`.

    `target` is the database id of the label (ADD_LABEL) or the original (CLOSE). `value`: the label's name. `by`: the
    id of the maintainer who approved or dismissed the suggestion, else 0. `at`: the last change, in seconds since 1970.
    """

    action: str
    state: str
    target: int
    value: str
    by: int
    at: float


def suggestions(api: Api, repo: RepoRef, number: int) -> tuple[Suggestion, ...] | None:
    """All suggestions ever made on an issue; None if the repository does not support suggestions.

    Call this before each suggestion: without support for suggestions, GitHub would add a suggested label at once.
    """
    request = partial(api.rest.issues.list_suggestions, repo.owner, repo.name, number, state="all")
    try:
        listed = api.pages(f"read the suggestions on {repo}#{number}", request, most=_MOST_ENTRIES)
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
