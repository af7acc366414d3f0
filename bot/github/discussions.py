"""Searching a repository's discussions, which only GraphQL can.

https://docs.github.com/graphql/guides/using-the-graphql-api-for-discussions
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.github import convert
from bot.github.api import Api
from bot.model import Actor, Issue, RepoRef

LONGEST_BODY = 10_000
"""Characters of a body that are kept."""

# A search leaves out silently what must not be read; counting the discussions does not, and says why.
_QUERY = """query Discussions($owner: String!, $name: String!, $text: String!) {
  repository(owner: $owner, name: $name) { discussions(first: 1) { totalCount } }
  search(query: $text, type: DISCUSSION, first: 50) {
    discussionCount
    nodes { ... on Discussion {
      databaseId id number title body url createdAt updatedAt closed closedAt stateReason isAnswered
      author { __typename login } repository { nameWithOwner }
    } }
  }
}"""


@dataclass(frozen=True, slots=True)
class FoundDiscussions:
    """The best matches in the shape of issues, and how many there are in all, None where that was not answered.

    `reason` says why nothing, or not everything, was read. `cached_at` is the time of day at which this was fetched if
    it is a remembered answer, else empty.
    """

    items: tuple[Issue, ...] = ()
    total_count: int | None = None
    reason: str = ""
    cached_at: str = ""


def search_discussions(api: Api, repo: RepoRef, text: str) -> FoundDiscussions:
    """Ask once. `text` is neutral words; names travel as variables.

    A lacking permission, and a server that knows no discussions, is a `reason`; other failures raise as everywhere.
    GraphQL may fail for one discussion and bring the others, which then count.
    """
    variables = {"owner": repo.owner, "name": repo.name, "text": f"repo:{repo} in:title,body {text}"}
    data, errors = api.graphql(f"search the discussions of {repo}", _QUERY, variables)
    if any(error.type == "FORBIDDEN" for error in errors):
        return FoundDiscussions(reason="the App lacks the permission to read discussions")
    found = data.get("search")
    reason = f"GitHub answered: {errors[0].message}" if errors else "" if found else "GitHub's answer is empty"
    if not found:
        return FoundDiscussions(reason=reason)
    items = tuple(_discussion(node) for node in found.get("nodes") or () if node)
    return FoundDiscussions(items, found.get("discussionCount") or len(items), reason)


def _discussion(node: Mapping[str, Any]) -> Issue:
    author = node.get("author")
    closed_at = node.get("closedAt")
    reason = node.get("stateReason") or ("ANSWERED" if node.get("isAnswered") else None)
    return Issue(
        repo=RepoRef(*node["repository"]["nameWithOwner"].split("/", 1)),
        id=node.get("databaseId") or 0,
        node_id=node["id"],
        number=node["number"],
        title=node["title"],
        body=(node.get("body") or "")[:LONGEST_BODY],
        state="closed" if node.get("closed") else "open",
        state_reason=reason.lower() if reason else None,
        author=Actor(author["login"], author.get("__typename") == "Bot") if author else convert.GHOST,
        labels=(),
        created_at=convert.moment(node["createdAt"]),
        updated_at=convert.moment(node["updatedAt"]),
        closed_at=convert.moment(closed_at) if closed_at else None,
        url=node["url"],
        is_discussion=True,
    )
