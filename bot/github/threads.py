"""The threads in which the bot was given commands, with their comments: what a store that knows nothing learns from.

GitHub's search finds them by the words of the commands; the bot's own comments, which offer them, have these too. One
request of a few points answers for some hundred threads
(https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bot.domain.entities import Actor, Comment, RepoRef, name_key
from bot.domain.errors import GitHubError
from bot.github import convert
from bot.github.calls import Api

PHRASES = ("duplicates not", "duplicates mute", "dup not", "dup mute")
"""What the commands that hold for good have in common, in each way of writing them."""

_PAGE, _COMMENTS = 25, 100
# GitHub shows a thousand results of a search.
_PAGES = 1_000 // _PAGE

_FOUND = f"""fragment found on SearchResultItemConnection {{
  pageInfo {{ endCursor hasNextPage }}
  nodes {{ ... on Issue {{
    number author {{ __typename login }} duplicateOf {{ number repository {{ nameWithOwner }} }}
    comments(last: {_COMMENTS}) {{
      pageInfo {{ hasPreviousPage }}
      nodes {{ body createdAt updatedAt url author {{ __typename login }} }}
    }}
  }} }}
}}"""


@dataclass(frozen=True, slots=True)
class Thread:
    """An issue's number and author, the issue of this repository that it is closed as a duplicate of, 0 for none, and
    its latest comments, oldest first, without the Apps that wrote them. `whole`: there are no earlier ones.
    """

    number: int
    author: Actor
    original: int
    comments: tuple[Comment, ...]
    whole: bool


def threads(api: Api, repo: RepoRef, since: str = "") -> Iterator[Thread]:
    """The threads that were changed at `since` (ISO 8601, empty: ever) or later, a thousand of each phrase at most.

    Raises GitHubError, RateLimited, Unavailable.
    """
    operation = f"search the comments of {repo} for commands"
    changed = f" updated:>={since}" if since else ""
    wanted = {f"s{at}": f'repo:{repo} is:issue in:comments "{phrase}"{changed}' for at, phrase in enumerate(PHRASES)}
    after: dict[str, str | None] = dict.fromkeys(wanted)
    seen: set[int] = set()
    for _ in range(_PAGES):
        data, errors = api.graphql(operation, _query(after), {**_named("q", wanted), **_named("a", after)})
        if not data:
            raise GitHubError(operation, 200, errors[0].message if errors else "the answer is empty")
        for name in list(after):
            found = data.get(name) or {}
            for node in found.get("nodes") or ():
                if node and node.get("number") and node["number"] not in seen:
                    seen.add(node["number"])
                    yield _thread(node, repo)
            page = found.get("pageInfo") or {}
            after[name] = page.get("endCursor")
            if not page.get("hasNextPage"):
                del after[name]
        if not after:
            return


def _query(after: Mapping[str, object]) -> str:
    declared = ", ".join(f"$q{name}: String!, $a{name}: String" for name in after)
    searches = "\n".join(
        f"  {name}: search(type: ISSUE, query: $q{name}, first: {_PAGE}, after: $a{name}) {{ ...found }}"
        for name in after
    )
    return f"query Threads({declared}) {{\n{searches}\n}}\n{_FOUND}"


def _named(letter: str, values: Mapping[str, object]) -> dict[str, object]:
    return {f"{letter}{name}": value for name, value in values.items()}


def _thread(node: Mapping[str, Any], repo: RepoRef) -> Thread:
    original = node.get("duplicateOf") or {}
    here = bool(original) and name_key(original["repository"]["nameWithOwner"]) == repo.key
    comments = node.get("comments") or {}
    return Thread(
        node["number"],
        _actor(node.get("author")),
        original["number"] if here else 0,
        tuple(_comment(one) for one in comments.get("nodes") or () if one),
        not (comments.get("pageInfo") or {}).get("hasPreviousPage"),
    )


def _comment(node: Mapping[str, Any]) -> Comment:
    return Comment(
        # GraphQL's own number has 31 bits, of which comments have more: theirs ends the address.
        id=int(node["url"].rpartition("-")[2]),
        body=node["body"],
        author=_actor(node.get("author")),
        app_id=None,
        created_at=convert.moment(node["createdAt"]),
        updated_at=convert.moment(node["updatedAt"]),
        url=node["url"],
    )


def _actor(data: Mapping[str, Any] | None) -> Actor:
    """GraphQL leaves out of a bot's login what REST puts behind it."""
    if data is None or data.get("__typename") != "Bot":
        return convert.GHOST if data is None else Actor(data["login"])
    return Actor(f"{data['login'].removesuffix('[bot]')}[bot]", is_bot=True)
