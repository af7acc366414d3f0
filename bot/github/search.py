"""Searches GitHub for issues (lexical or hybrid), similar issues (F8a), discussions, and threads with commands.

https://docs.github.com/rest/search/search
https://docs.github.com/graphql/guides/using-the-graphql-api-for-discussions
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from githubkit.utils import UNSET

from bot.domain.entities import Actor, Comment, Issue, Likeness, RepoRef, name_key
from bot.domain.errors import Forbidden, GitHubError, NotFound, Remark, RemarkCode
from bot.github import convert
from bot.github.calls import PAGE, Api

LONGEST_BODY = 10_000
"""How many characters of a body to keep. Pages are cached, and a page of a hundred issues can have 6 MB."""


@dataclass(frozen=True, slots=True)
class SearchPage:
    """The first page of a search.

    `total_count` counts all hits. `incomplete` says that GitHub ran out of time. `fallback_reasons` say why a hybrid
    search became lexical. `cached_at` is the time of day at which the bot fetched a cached page; empty for a new page.
    """

    total_count: int
    incomplete: bool
    items: tuple[Issue, ...]
    fallback_reasons: tuple[str, ...]
    cached_at: str = ""


def search(api: Api, query: str, *, hybrid: bool = False) -> SearchPage:
    """Search once: lexically (GitHub allows 30 searches a minute), or `hybrid` (10 a minute).

    Raises Invalid with GitHub's explanation for a refused query, for example one with a repository's former name.
    """
    data = api.call(
        "search issues",
        lambda: api.rest.search.issues_and_pull_requests(
            q=query, per_page=PAGE, search_type="hybrid" if hybrid else UNSET
        ),
    )
    return SearchPage(
        total_count=data["total_count"],
        incomplete=data["incomplete_results"],
        items=tuple(replace(issue, body=issue.body[:LONGEST_BODY]) for issue in map(convert.issue, data["items"])),
        fallback_reasons=tuple(data.get("lexical_fallback_reason") or ()),
    )


log = logging.getLogger(__name__)

# The statuses by which GitHub refuses a feature. Other refusals (401, 451, redirects) have other causes.
_REFUSALS = (403, 404, 410)


@dataclass(frozen=True, slots=True)
class SimilarIssues:
    """The first page of similar issues, best first, each with GitHub's judgement.

    `enabled` says whether GitHub ranks similar issues in this repository. `cached_at` is as in `SearchPage`.
    """

    items: tuple[tuple[Issue, Likeness], ...] = ()
    enabled: bool = True
    cached_at: str = ""


def similar_issues(api: Api, repo: RepoRef, number: int) -> SimilarIssues:
    """Ask for similar issues. GitHub's threshold applies: we do not know the scale of its scores.

    If GitHub refuses the feature or omits a judgement, `enabled` is false, and we skip the repository for a day.
    """
    feature = f"similar issues in {repo.key}"
    if feature in api.switched_off:
        return SimilarIssues(enabled=False)
    path = f"/repos/{repo.owner}/{repo.name}/issues/{number}/semantically_similar"
    try:
        found: Any = api.call(f"ask for issues like {repo}#{number}", lambda: api.github.request("GET", path))
    except (Forbidden, NotFound) as refusal:
        if refusal.status not in _REFUSALS:
            raise
        return _not_enabled(api, feature, f"GitHub answered {refusal.status}")
    if not isinstance(found, list):
        raise GitHubError(f"ask for issues like {repo}#{number}", 200, "the answer is no list")
    if not all(
        isinstance(item, dict) and isinstance(item.get("issue"), dict) and item.get("confidence") for item in found
    ):
        return _not_enabled(api, feature, "GitHub does not rank them")
    return SimilarIssues(tuple((convert.issue(item["issue"]), _likeness(item)) for item in found))


def _not_enabled(api: Api, feature: str, why: str) -> SimilarIssues:
    log.info("%s: %s; it is asked again in a day", feature, why)
    api.switched_off.add(feature)
    return SimilarIssues(enabled=False)


def _likeness(item: dict[str, Any]) -> Likeness:
    score = item.get("score")
    known = isinstance(score, int | float)
    return Likeness(score if known else None, str(item["confidence"]), item.get("likely_duplicate") is True)


# The count reveals a missing permission: GitHub then refuses the count, whereas a search just finds nothing.
_DISCUSSIONS = """query Discussions($owner: String!, $name: String!%s) {
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
    """`lists` maps each answered search text to a pair: how many discussions match, and the best of them as issues.

    `reason` says why some or all answers are missing. `cached_at` is as in `SearchPage`.
    """

    lists: Mapping[str, tuple[int, tuple[Issue, ...]]] = field(default_factory=dict)
    reason: Remark | None = None
    cached_at: str = ""


def search_discussions(api: Api, repo: RepoRef, texts: Sequence[str]) -> FoundDiscussions:
    """Search for each of the `texts`, which are plain words, in a single request.

    A missing permission, or another error in GraphQL's answer, becomes a `reason`; a failed request raises. If GraphQL
    fails to read a single discussion, the result has the other discussions.
    """
    declared = "".join(f", $t{i}: String!" for i in range(len(texts)))
    searches = "\n".join(
        f"  s{i}: search(query: $t{i}, type: DISCUSSION, first: 50) {{ ...found }}" for i in range(len(texts))
    )
    variables = {"owner": repo.owner, "name": repo.name}
    variables |= {f"t{i}": f"repo:{repo} in:title,body {text}" for i, text in enumerate(texts)}
    data, errors = api.graphql(f"search the discussions of {repo}", _DISCUSSIONS % (declared, searches), variables)
    if any(error.type == "FORBIDDEN" for error in errors):
        return FoundDiscussions(reason=RemarkCode.NO_PERMISSION.of())
    lists = {}
    for i, text in enumerate(texts):
        if found := data.get(f"s{i}"):
            items = tuple(_discussion(node) for node in found.get("nodes") or () if node)
            lists[text] = (found.get("discussionCount") or len(items), items)
    if errors:
        return FoundDiscussions(lists, RemarkCode.OTHERS.of(f"GitHub answered: {errors[0].message}"))
    return FoundDiscussions(lists, None if len(lists) == len(texts) else RemarkCode.EMPTY.of())


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


PHRASES = ("duplicates not", "duplicates mute", "dup not", "dup mute")
"""Phrases that find the commands `not` and `mute`, with either prefix: `/duplicates` or `/dup`."""

# Issues on a page, and the most comments of each issue.
_PAGE, _COMMENTS = 25, 100
# GitHub shows only this many results of a search. To continue, search for changes up to the time of the last result.
_REACHABLE = 1_000

_FOUND = f"""fragment found on SearchResultItemConnection {{
  issueCount pageInfo {{ endCursor hasNextPage }}
  nodes {{ ... on Issue {{
    number updatedAt author {{ __typename login }} duplicateOf {{ number repository {{ nameWithOwner }} }}
    comments(last: {_COMMENTS}) {{
      pageInfo {{ hasPreviousPage }}
      nodes {{
        body createdAt updatedAt url author {{ __typename login }} reactionGroups {{ content viewerHasReacted }}
      }}
    }}
  }} }}
}}"""


@dataclass(frozen=True, slots=True)
class Thread:
    """An issue with its latest `comments`, oldest first. GraphQL does not say which App wrote a comment.

    If the issue is closed as a duplicate within this repository, `original` is the original's number, else 0. `whole`
    says whether `comments` is complete. `thumbs` maps a comment's id to the bot's own reaction: "+1", "-1" or empty.
    """

    number: int
    author: Actor
    original: int
    comments: tuple[Comment, ...]
    whole: bool
    thumbs: Mapping[int, str]


def threads(api: Api, repo: RepoRef, since: str = "") -> Iterator[Thread]:
    """The threads that have any of PHRASES and were changed at or after `since` (ISO 8601; empty for all).

    Yields each thread once. Raises GitHubError, RateLimited, Unavailable.
    """
    operation = f"search the comments of {repo} for commands"
    phrases = {f"s{i}": phrase for i, phrase in enumerate(PHRASES)}
    # For each unfinished search, `after` has the cursor of the next page, and `until` the latest change to ask for.
    until = dict.fromkeys(phrases, "")
    after = dict[str, str | None].fromkeys(phrases)
    seen: set[int] = set()
    while after:
        queries = {f"q{name}": _search(repo, phrases[name], since, until[name]) for name in after}
        cursors = {f"a{name}": cursor for name, cursor in after.items()}
        data, errors = api.graphql(operation, _query(after), queries | cursors)
        if not data:
            raise GitHubError(operation, 200, errors[0].message if errors else "the answer is empty")
        for name in list(after):
            found = data.get(name) or {}
            nodes = [node for node in found.get("nodes") or () if node and node.get("number")]
            for node in nodes:
                if node["number"] not in seen:
                    seen.add(node["number"])
                    yield _thread(node, repo)
            page = found.get("pageInfo") or {}
            last = nodes[-1]["updatedAt"] if nodes else ""
            if page.get("hasNextPage") and page.get("endCursor") not in (None, after[name]):
                after[name] = page["endCursor"]
            elif found.get("issueCount", 0) > _REACHABLE and last and last != until[name]:
                until[name], after[name] = last, None  # The results end here: search for earlier changes.
            else:
                del after[name]  # This search is finished.


def _search(repo: RepoRef, phrase: str, since: str, until: str) -> str:
    # Latest change first. An issue changed meanwhile moves to the front: other issues may repeat, but are not skipped.
    changed = f" updated:{since or '*'}..{until or '*'}" if since or until else ""
    return f'repo:{repo} is:issue in:comments "{phrase}"{changed} sort:updated-desc'


def _query(after: Mapping[str, object]) -> str:
    """A request for the searches in `after`. Search `s0` has the variables `qs0` (its query) and `as0` (its cursor)."""
    declared = ", ".join(f"$q{name}: String!, $a{name}: String" for name in after)
    searches = "\n".join(
        f"  {name}: search(type: ISSUE, query: $q{name}, first: {_PAGE}, after: $a{name}) {{ ...found }}"
        for name in after
    )
    return f"query Threads({declared}) {{\n{searches}\n}}\n{_FOUND}"


def _thread(node: Mapping[str, Any], repo: RepoRef) -> Thread:
    original = node.get("duplicateOf") or {}
    is_here = bool(original) and name_key(original["repository"]["nameWithOwner"]) == repo.key
    comments = node.get("comments") or {}
    nodes = [comment for comment in comments.get("nodes") or () if comment]
    return Thread(
        node["number"],
        _actor(node.get("author")),
        original["number"] if is_here else 0,
        tuple(map(_comment, nodes)),
        not (comments.get("pageInfo") or {}).get("hasPreviousPage"),
        {_comment_id(comment): _thumb(comment) for comment in nodes},
    )


def _comment_id(node: Mapping[str, Any]) -> int:
    """The id from the end of the address, because ids of comments exceed the 31 bits of GraphQL's `databaseId`."""
    return int(node["url"].rpartition("-")[2])


def _thumb(node: Mapping[str, Any]) -> str:
    reactions = {group["content"] for group in node.get("reactionGroups") or () if group.get("viewerHasReacted")}
    return "+1" if "THUMBS_UP" in reactions else "-1" if "THUMBS_DOWN" in reactions else ""


def _comment(node: Mapping[str, Any]) -> Comment:
    return Comment(
        id=_comment_id(node),
        body=node["body"],
        author=_actor(node.get("author")),
        app_id=None,
        created_at=convert.moment(node["createdAt"]),
        updated_at=convert.moment(node["updatedAt"]),
        url=node["url"],
    )


def _actor(data: Mapping[str, Any] | None) -> Actor:
    """The account, with its login as in REST: a bot's login ends in `[bot]`, which GraphQL omits."""
    if data is None:
        return convert.GHOST
    if data.get("__typename") == "Bot":
        return Actor(f"{data['login'].removesuffix('[bot]')}[bot]", is_bot=True)
    return Actor(data["login"])
