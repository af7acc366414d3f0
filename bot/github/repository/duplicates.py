"""What GitHub knows of an issue's original, through GraphQL: REST tells that an issue is a duplicate, but not of what.

`Issue.duplicateOf` in https://docs.github.com/graphql/reference/objects#issue
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bot.errors import Unavailable
from bot.github.api.aliases import ask_of_issues
from bot.github.api.calls import Api
from bot.model import IssueRef, RepoRef

_ORIGINAL = "duplicateOf { number repository { nameWithOwner } }"


def duplicate_of(api: Api, repo: RepoRef, number: int) -> IssueRef | None:
    """The issue that this one is closed as a duplicate of.

    None where it is not, where the original is out of our sight, and on servers whose GraphQL does not know the field.
    Raises Unavailable where GitHub itself failed, which is no answer.
    """
    operation = f"read the original of {repo}#{number}"
    (part,) = ask_of_issues(api, operation, repo, [number], _ORIGINAL)
    if part.failed(number):
        raise Unavailable(f"{operation}: GitHub failed over it")
    return _original(part.issues.get(number, {}))


def originals(api: Api, repo: RepoRef, numbers: Sequence[int]) -> Mapping[int, int | None]:
    """Of what in the same repository each of these issues is a duplicate, in one request for a hundred of them.

    None where `duplicate_of` says so, and where the original is in another repository. Left out are those of which
    GitHub does not say it: over which it failed, and all of them on servers whose GraphQL does not know the field.
    """
    found: dict[int, int | None] = {}
    for part in ask_of_issues(api, f"read the originals of issues in {repo}", repo, numbers, _ORIGINAL):
        for number, issue in part.issues.items():
            if part.failed(number):
                continue
            original = _original(issue)
            found[number] = original.number if original and original.repo.key == repo.key else None
    return found


def _original(issue: Mapping[str, Any]) -> IssueRef | None:
    original = issue.get("duplicateOf")
    return IssueRef(RepoRef.parse(original["repository"]["nameWithOwner"]), original["number"]) if original else None
