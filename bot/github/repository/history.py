"""All issues of a repository with what was said of duplicates, in as few requests as there can be.

REST would need a request for each hundred comments, and does not tell what an issue was marked a duplicate of. GraphQL
gives issues without pull requests, each with its marks and its latest comments, PAGE in one request of about two points
of the 5,000 an hour (https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.errors import GitHubError, Unavailable
from bot.github.api.calls import Api, is_failure
from bot.model import RepoRef

PAGE = 50
LEAST = 5
"""GitHub gives up on an answer, or on parts of it, that takes it ten seconds or too many of its resources; a page is
then asked for in smaller parts, down to this."""

# Whoever closes an issue says why at its end. Marks are few.
_COMMENTS, _MARKS, _LABELS = 20, 10, 20

_QUERY = f"""query History(
  $owner: String!, $name: String!, $first: Int!, $after: String, $filter: IssueFilters
) {{
  repository(owner: $owner, name: $name) {{
    issues(first: $first, after: $after, filterBy: $filter, orderBy: {{field: UPDATED_AT, direction: ASC}}) {{
      totalCount
      pageInfo {{ endCursor hasNextPage }}
      nodes {{
        number createdAt updatedAt closedAt title body
        author {{ __typename login }}
        stateReason(enableDuplicate: true)
        labels(first: {_LABELS}) {{ nodes {{ name }} }}
        comments(last: {_COMMENTS}) {{ nodes {{ author {{ __typename login }} authorAssociation body createdAt }} }}
        closings: timelineItems(last: 1, itemTypes: [CLOSED_EVENT]) {{
          nodes {{ ... on ClosedEvent {{ createdAt actor {{ __typename login }} }} }}
        }}
        timelineItems(last: {_MARKS}, itemTypes: [MARKED_AS_DUPLICATE_EVENT, UNMARKED_AS_DUPLICATE_EVENT]) {{
          nodes {{
            __typename
            ... on MarkedAsDuplicateEvent {{ createdAt isCrossRepository canonical {{ ...number }} }}
            ... on UnmarkedAsDuplicateEvent {{ createdAt isCrossRepository canonical {{ ...number }} }}
          }}
        }}
      }}
    }}
  }}
}}
fragment number on Issue {{ number }}"""


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """Issues as GraphQL gives them, changed longest ago first; `total` is how many there are since the time asked."""

    issues: Sequence[Mapping[str, Any]]
    total: int


def history(api: Api, repo: RepoRef, since: str = "") -> Iterator[HistoryPage]:
    """The repository's issues that were changed at `since` (ISO 8601, empty: ever) or later, page by page.

    An issue that changes meanwhile comes again. Raises Forbidden, RateLimited, Unavailable.
    """
    operation = f"read the history of {repo}"
    size, cursor, more = PAGE, None, True
    while more:
        variables = {
            "owner": repo.owner,
            "name": repo.name,
            "first": size,
            "after": cursor,
            "filter": {"since": since} if since else {},
        }
        try:
            data, errors = api.graphql(operation, _QUERY, variables)
        except Unavailable:
            if size <= LEAST:
                raise
            size //= 2
            continue
        if size > LEAST and any(map(is_failure, errors)):
            # What it left out would be passed over for good, as only what it fails over each time is.
            size //= 2
            continue
        page = (data.get("repository") or {}).get("issues")
        if page is None:
            raise GitHubError(operation, 200, "; ".join(error.message for error in errors) or "GitHub says nothing")
        cursor, more = page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]
        yield HistoryPage([node for node in page["nodes"] if node], page["totalCount"])
