"""👍 and 👎 on comments, many at once, and folding a comment.

GitHub sends no event for a reaction, so that they are asked for again and again. REST wants two requests a comment, and
its ETags hold no longer than the hour that a token of an installation lives; GraphQL answers for fifty comments at the
price of one or two requests. `Reactable.reactions`, `minimizeComment` and `ReportedContentClassifiers` in
https://docs.github.com/graphql/reference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.errors import Forbidden, GitHubError, NotFound
from bot.github.api import convert
from bot.github.api.calls import Api

PAGE = 50
"""Comments that are asked about at once."""

MOST = 20
"""Votes of one kind that are read of a comment, the latest: those of people who count are among them, or a crowd is at
work, which must not push out what was read before."""

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
"""The reason that GitHub shows on what `fold` has folded."""


@dataclass(frozen=True, slots=True)
class Vote:
    """One person's 👍 or 👎, at a time in seconds since 1970."""

    login: str
    up: bool
    at: float


@dataclass(frozen=True, slots=True)
class Votes:
    """What is on one comment. `author` is who opened its issue, empty if nobody knows; `folded` why it is folded.

    `since` has the kinds of votes of which there are more than were read, each with the time of the first that was.
    `locked` is whether the issue is.
    """

    author: str
    votes: tuple[Vote, ...]
    folded: str
    since: Mapping[bool, float]
    locked: bool


@dataclass(frozen=True, slots=True)
class VotesPage:
    """The votes by the comment's id. A comment that is left out is not there any more, or out of our sight.

    `remaining` and `limit` are what GitHub says of the hour's budget, None where it does not count.
    """

    found: Mapping[str, Votes] = field(default_factory=dict)
    remaining: int | None = None
    limit: int | None = None


def votes(api: Api, node_ids: Sequence[str]) -> VotesPage:
    """Ask about at most PAGE comments. Raises GitHubError, RateLimited and Unavailable."""
    data, errors = api.graphql("read the reactions to comments", _QUERY, {"ids": list(node_ids[:PAGE])})
    nodes = data.get("nodes")
    if nodes is None:
        raise GitHubError("read the reactions to comments", 200, "; ".join(one.message for one in errors)[:200])
    budget = data.get("rateLimit") or {}
    found = {node["id"]: _votes(node) for node in nodes if node and node.get("id")}
    return VotesPage(found, budget.get("remaining"), budget.get("limit"))


def fold(api: Api, node_id: str) -> None:
    """Fold a comment as outdated. Raises NotFound, Forbidden, GitHubError, RateLimited and Unavailable."""
    _change(api, "fold a comment", _FOLD, node_id)


def unfold(api: Api, node_id: str) -> None:
    """Show a folded comment again; raises as `fold` does."""
    _change(api, "unfold a comment", _UNFOLD, node_id)


def _change(api: Api, operation: str, query: str, node_id: str) -> None:
    _, errors = api.graphql(operation, query, {"id": node_id})
    for error in errors:
        kinds = {"NOT_FOUND": (NotFound, 404), "FORBIDDEN": (Forbidden, 403)}
        refusal, status = kinds.get(error.type or "", (GitHubError, 200))
        raise refusal(operation, status, error.message)


def _votes(node: Mapping[str, Any]) -> Votes:
    cast = [
        Vote(vote["user"]["login"], up, convert.moment(vote["createdAt"]).timestamp())
        for name, up in (("up", True), ("down", False))
        for vote in node[name]["nodes"] or ()
        if vote and vote["user"]
    ]
    issue = node.get("issue") or {}
    author = (issue.get("author") or {}).get("login") or ""
    folded = (node.get("minimizedReason") or "folded").lower() if node["isMinimized"] else ""
    since = {
        up: convert.moment(node[name]["nodes"][-1]["createdAt"]).timestamp()
        for name, up in (("up", True), ("down", False))
        if node[name]["totalCount"] > len(node[name]["nodes"] or ()) > 0
    }
    return Votes(author, tuple(cast), folded, since, bool(issue.get("locked")))
