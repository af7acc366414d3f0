"""What closed issues, through GraphQL: REST names a commit at most, and no pull request (C3).

`ClosedEvent.closer` in https://docs.github.com/graphql/reference/objects#closedevent
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from bot.errors import GitHubError, Retryable
from bot.github.api.aliases import ask_of_issues
from bot.github.api.calls import Api
from bot.model import Closer, RepoRef, name_key

_HOME = "repository { nameWithOwner }"
_CLOSER = f"""
    timelineItems(last: 1, itemTypes: [CLOSED_EVENT]) {{ nodes {{ ... on ClosedEvent {{ closer {{
        __typename
        ... on PullRequest {{ number {_HOME} }}
        ... on Commit {{ oid {_HOME} }}
    }} }} }} }}"""
_HASH = re.compile("[0-9a-f]{40,64}")


def closers(api: Api, repo: RepoRef, numbers: Sequence[int]) -> Mapping[int, Closer]:
    """What closed these issues the last time, in one request for a hundred of them.

    Left out are those that a person closed by hand, and those that something in another repository has closed: not
    everybody who reads of it may be allowed to look there. Never raises for GitHub's sake: a comment goes without.
    """
    found: dict[int, Closer] = {}
    try:
        for part in ask_of_issues(api, f"read what closed issues in {repo}", repo, numbers, _CLOSER):
            for number, issue in part.issues.items():
                if closer := _closer(issue, repo):
                    found[number] = closer
    except (GitHubError, Retryable):
        return found
    return found


def _closer(issue: Mapping[str, Any], repo: RepoRef) -> Closer | None:
    nodes = (issue.get("timelineItems") or {}).get("nodes") or ()
    by = next((node["closer"] for node in nodes if node and node.get("closer")), None)
    home = ((by or {}).get("repository") or {}).get("nameWithOwner", "")
    if by is None or name_key(home) != repo.key:
        return None
    if by.get("__typename") == "PullRequest":
        return Closer(pull=int(by["number"]))
    return Closer(commit=by["oid"]) if _HASH.fullmatch(by.get("oid", "")) else None
