"""What GitHub knows of an issue's original, through GraphQL: REST tells that an issue is a duplicate, but not of what.

`Issue.duplicateOf` in https://docs.github.com/graphql/reference/objects#issue
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.github.api import PAGE, Api
from bot.model import IssueRef, RepoRef, name_key

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


def originals(api: Api, repo: RepoRef, numbers: Sequence[int]) -> Mapping[int, int | None]:
    """Of what in the same repository each of these issues is a duplicate, in one request for a hundred of them.

    None where `duplicate_of` says so, and where the original is in another repository. Left out are those of which
    GitHub does not say it: all of them on servers whose GraphQL does not know the field.
    """
    found: dict[int, int | None] = {}
    for start in range(0, len(numbers), PAGE):
        asked = numbers[start : start + PAGE]
        issues = "\n".join(f"i{number}: issue(number: {number}) {{ ...original }}" for number in asked)
        query = (
            f"query Originals($owner: String!, $name: String!) {{\n"
            f"repository(owner: $owner, name: $name) {{\n{issues}\n}}\n}}\n"
            f"fragment original on Issue {{ duplicateOf {{ number repository {{ nameWithOwner }} }} }}"
        )
        variables = {"owner": repo.owner, "name": repo.name}
        data, _ = api.graphql(f"read the originals of issues in {repo}", query, variables)
        answers = data.get("repository") or {}
        for number in asked:
            if not (answer := answers.get(f"i{number}")):
                continue
            original = answer.get("duplicateOf")
            here = original and name_key(original["repository"]["nameWithOwner"]) == repo.key
            found[number] = original["number"] if here else None
    return found
