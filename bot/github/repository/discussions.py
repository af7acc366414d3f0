"""Searching a repository's discussions, which only GraphQL can.

https://docs.github.com/graphql/guides/using-the-graphql-api-for-discussions
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.github.api import convert
from bot.github.api.calls import Api
from bot.github.repository.search import LONGEST_BODY
from bot.model import Actor, Issue, RepoRef
from bot.remarks import Remark, Told

# A search leaves out silently what must not be read; counting the discussions does not, and says why.
_QUERY = """query Discussions($owner: String!, $name: String!%s) {
  repository(owner: $owner, name: $name) { discussions(first: 1) { totalCount } }
%s
}
fragment found on SearchResultItemConnection {
  discussionCount
  nodes { ... on Discussion {
    databaseId id number title body url createdAt updatedAt closed closedAt stateReason isAnswered
    author { __typename login } repository { nameWithOwner }
  } }
}"""


@dataclass(frozen=True, slots=True)
class FoundDiscussions:
    """For each search that was answered, by its text, the best matches in the shape of issues, and how many there are.

    `reason` says why nothing, or not everything, was read. `cached_at` is the time of day at which this was fetched if
    it is a remembered answer, else empty.
    """

    lists: Mapping[str, tuple[int, tuple[Issue, ...]]] = field(default_factory=dict)
    reason: Told | None = None
    cached_at: str = ""


def search_discussions(api: Api, repo: RepoRef, texts: Sequence[str]) -> FoundDiscussions:
    """Search for each of the `texts`, which are neutral words, in one request; names travel as variables.

    A lacking permission, and a server that knows no discussions, is a `reason`; other failures raise as everywhere.
    GraphQL may fail for one discussion and bring the others, which then count.
    """
    declared = "".join(f", $t{at}: String!" for at in range(len(texts)))
    searches = "\n".join(
        f"  s{at}: search(query: $t{at}, type: DISCUSSION, first: 50) {{ ...found }}" for at in range(len(texts))
    )
    variables = {"owner": repo.owner, "name": repo.name}
    variables |= {f"t{at}": f"repo:{repo} in:title,body {text}" for at, text in enumerate(texts)}
    data, errors = api.graphql(f"search the discussions of {repo}", _QUERY % (declared, searches), variables)
    if any(error.type == "FORBIDDEN" for error in errors):
        return FoundDiscussions(reason=Remark.NO_PERMISSION.of())
    lists = {}
    for at, text in enumerate(texts):
        if found := data.get(f"s{at}"):
            items = tuple(_discussion(node) for node in found.get("nodes") or () if node)
            lists[text] = (found.get("discussionCount") or len(items), items)
    if errors:
        return FoundDiscussions(lists, Remark.OTHERS.of(f"GitHub answered: {errors[0].message}"))
    return FoundDiscussions(lists, None if len(lists) == len(texts) else Remark.EMPTY.of())


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
