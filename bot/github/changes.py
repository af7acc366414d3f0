"""Reads a repository's issues, earliest change first: by REST for the index, by GraphQL for the evaluation.

https://docs.github.com/rest/issues/issues#list-repository-issues. GitHub numbers pages only up to 10,000 entries; after
that the `Link` header has the cursor `after`. An ETag is valid only as long as the token, an hour at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from bot.domain.entities import Issue, RepoRef
from bot.domain.errors import GitHubError, NotFound, Unavailable
from bot.github import convert
from bot.github.batched_reads import read_issues
from bot.github.calls import PAGE, Api, is_failure

_COUNT = """query Count($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) { databaseId issues(first: 1) { totalCount } }
}"""


@dataclass(frozen=True, slots=True)
class Budget:
    """GitHub's limit of requests per hour: of `limit` requests, `remaining` are left for the next `seconds`."""

    remaining: int
    limit: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ChangesPage:
    """A page of issues without pull requests, earliest change first.

    `last` is the time of the latest change of an issue or pull request on the page; None for an empty page. `more` says
    whether pages follow. `after` is the next page's cursor, or empty if the answer has no cursor. `etag` is empty
    for a full page. `unchanged` means that the caller's `etag` is still valid; the page then has no issues.
    """

    issues: tuple[Issue, ...] = ()
    last: datetime | None = None
    more: bool = False
    after: str = ""
    etag: str = ""
    unchanged: bool = False
    budget: Budget | None = None


def changed_issues(
    api: Api, repo: RepoRef, *, since: str = "", after: str = "", page: int = 1, etag: str = ""
) -> ChangesPage:
    """Read up to a hundred entries that were changed at `since` (ISO 8601; empty for all) or later.

    `after` or `page` (from 1) chooses the page. `etag` is from an earlier answer for that page. Raises Forbidden,
    Invalid, RateLimited, Unavailable, NotFound (even for a former name, because a redirect may lose the query).
    """
    query: dict[str, str | int] = {"state": "all", "sort": "updated", "direction": "asc", "per_page": PAGE}
    if since:
        query["since"] = since
    if after:
        query["after"] = after
    if page > 1:
        query["page"] = page
    operation = f"list the issues of {repo}"
    response = api.send(
        operation,
        lambda: api.github.request(
            "GET",
            f"/repos/{repo.owner}/{repo.name}/issues",
            params=query,
            headers={"If-None-Match": etag} if etag else {},
        ),
    )
    raw: httpx.Response = response.raw_response
    # Pick the redirects, because `raw.history` can also contain the request for a token.
    if moved := [step for step in raw.history if step.is_redirect]:
        raise NotFound(operation, moved[0].status_code, "it has another name now")
    budget = _budget(raw.headers)
    if raw.status_code == 304:
        if not etag:
            # A proxy between us and GitHub has added its own ETag to our request.
            raise Unavailable(f"{operation}: GitHub answered 304 to a request without an ETag")
        return ChangesPage(etag=etag, unchanged=True, budget=budget)
    entries: list[Mapping[str, Any]] = api.read(operation, response)
    following = raw.links.get("next", {}).get("url", "")
    return ChangesPage(
        issues=tuple(convert.issue(entry) for entry in entries if not entry.get("pull_request")),
        last=convert.moment(entries[-1]["updated_at"]) if entries else None,
        more=bool(following),
        after=next(iter(parse_qs(urlsplit(following).query).get("after", ())), ""),
        # A full page gets no ETag: if a next page appears later, this page's ETag stays the same, so nobody notices.
        etag=raw.headers.get("etag", "") if len(entries) < PAGE else "",
        budget=budget,
    )


def count_issues(api: Api, repo: RepoRef, repo_id: int) -> int | None:
    """The number of a repository's issues, without pull requests; None if GraphQL does not say.

    Raises NotFound if the name now belongs to a repository other than `repo_id`. `changed_issues` would not notice:
    it would list the issues of the other repository.
    """
    operation = f"count the issues of {repo}"
    data, _ = api.graphql(operation, _COUNT, {"owner": repo.owner, "name": repo.name})
    found = data.get("repository") or {}
    _check_is_same(operation, found, repo_id)
    total = (found.get("issues") or {}).get("totalCount")
    return total if isinstance(total, int) else None


def missing_issues(api: Api, repo: RepoRef, numbers: Sequence[int], repo_id: int) -> set[int]:
    """The `numbers` that certainly have no issue now. `repo_id`: see `count_issues`."""
    operation = f"ask which issues of {repo} are there"
    missing: set[int] = set()
    for batch in read_issues(api, operation, repo, numbers, "number", of_repository="databaseId"):
        _check_is_same(operation, batch.repository or {}, repo_id)
        missing |= {
            number
            for number, errors in batch.errors_of.items()
            if number not in batch.issues and any(error.type == "NOT_FOUND" for error in errors)
        }
    return missing


def _check_is_same(operation: str, found: Mapping[str, Any], repo_id: int) -> None:
    """Raise NotFound if `found` is another repository. Accept a missing id: GraphQL omits ids of more than 31 bits."""
    if found.get("databaseId") not in (None, repo_id):
        raise NotFound(operation, 404, "the name belongs to another repository now")


def _budget(headers: Mapping[str, str]) -> Budget | None:
    """The budget in the headers; None on an Enterprise server without limits."""
    values = [headers.get(f"x-ratelimit-{name}", "") for name in ("remaining", "limit", "reset")]
    try:
        remaining, limit, reset = map(int, values)
        now = parsedate_to_datetime(headers.get("date", "")).timestamp()
    except (TypeError, ValueError):
        return None
    return Budget(remaining, limit, max(0.0, reset - now))


# Issues per page. If an answer takes ten seconds or too many resources, GitHub gives up on the answer or on parts of
# it. Then `history` halves the page, until it has SMALLEST issues or fewer.
LARGEST, SMALLEST = 50, 5

# How many to read. The last comments say why people closed an issue. Duplicate marks are few.
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
    """Issues as GraphQL returns them, earliest change first. `total` counts the issues of all pages."""

    issues: Sequence[Mapping[str, Any]]
    total: int


def history(api: Api, repo: RepoRef, since: str = "") -> Iterator[HistoryPage]:
    """The repository's issues that were changed at `since` (ISO 8601; empty for all) or later, page by page.

    An issue that changes during the reading may appear twice. Raises GitHubError, RateLimited, Unavailable.
    """
    operation = f"read the history of {repo}"
    size, cursor, more = LARGEST, None, True
    fixed = {"owner": repo.owner, "name": repo.name, "filter": {"since": since} if since else {}}
    while more:
        try:
            data, errors = api.graphql(operation, _QUERY, {**fixed, "first": size, "after": cursor})
        except Unavailable:
            if size <= SMALLEST:
                raise
            size //= 2
            continue
        if size > SMALLEST and any(map(is_failure, errors)):
            size //= 2
            continue
        page = (data.get("repository") or {}).get("issues")
        if page is None:
            raise GitHubError(operation, 200, "; ".join(error.message for error in errors) or "GitHub says nothing")
        cursor, more = page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]
        yield HistoryPage([node for node in page["nodes"] if node], page["totalCount"])
