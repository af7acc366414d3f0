"""All issues of a repository with their comments and duplicate marks, in as few requests as possible.

REST would need a request for each hundred comments, and does not tell which issue another was marked a duplicate of.
GraphQL gives PAGE issues in one request, for about two points of the 5,000 an hour
(https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.errors import GitHubError, Unavailable
from bot.github.api.calls import Api, is_failure
from bot.model import RepoRef

# GitHub gives up on an answer, or on parts of it, that takes ten seconds or too many resources. Then it is asked for
# smaller pages, down to LEAST.
PAGE, LEAST = 50, 5

# People say at the end of an issue why they close it. Marks are few.
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
    """Issues as GraphQL gives them, changed longest ago first; `total` counts those of all pages."""

    issues: Sequence[Mapping[str, Any]]
    total: int


def history(api: Api, repo: RepoRef, since: str = "") -> Iterator[HistoryPage]:
    """The repository's issues that were changed at `since` (ISO 8601, empty: ever) or later, page by page.

    An issue that changes meanwhile comes again. Raises Forbidden, RateLimited, Unavailable.
    """
    operation = f"read the history of {repo}"
    size, cursor, more = PAGE, None, True
    fixed = {"owner": repo.owner, "name": repo.name, "filter": {"since": since} if since else {}}
    while more:
        try:
            data, errors = api.graphql(operation, _QUERY, {**fixed, "first": size, "after": cursor})
        except Unavailable:
            if size <= LEAST:
                raise
            size //= 2
            continue
        if size > LEAST and any(map(is_failure, errors)):
            # A smaller page may have what this one left out.
            size //= 2
            continue
        page = (data.get("repository") or {}).get("issues")
        if page is None:
            raise GitHubError(operation, 200, "; ".join(error.message for error in errors) or "GitHub says nothing")
        cursor, more = page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]
        yield HistoryPage([node for node in page["nodes"] if node], page["totalCount"])
