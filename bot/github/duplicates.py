"""What GitHub knows of an issue's original, through GraphQL: REST tells that an issue is a duplicate, but not of what.

`Issue.duplicateOf` in https://docs.github.com/graphql/reference/objects#issue
"""

from __future__ import annotations

from bot.github.api import Api
from bot.model import IssueRef, RepoRef

_QUERY = """query Original($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    issue(number: $number) { duplicateOf { number repository { nameWithOwner } } }
  }
}"""


def duplicate_of(api: Api, repo: RepoRef, number: int) -> IssueRef | None:
    """The issue that this one is closed as a duplicate of.

    None where it is not, where the original is out of our sight, and on servers whose GraphQL does not know the field.
    """
    variables = {"owner": repo.owner, "name": repo.name, "number": number}
    data, _ = api.graphql(f"read the original of {repo}#{number}", _QUERY, variables)
    issue = (data.get("repository") or {}).get("issue") or {}
    original = issue.get("duplicateOf")
    if not original:
        return None
    return IssueRef(RepoRef.parse(original["repository"]["nameWithOwner"]), original["number"])
