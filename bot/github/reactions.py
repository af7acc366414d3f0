"""How many people gave an issue a 👍 or a 👎, through GraphQL: many issues in one request.

Nothing else tells: GitHub sends no event for a reaction, and does not call an issue changed because of one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.errors import GitHubError
from bot.github.api import PAGE, Api
from bot.model import RepoRef


def reactions(api: Api, repo: RepoRef, numbers: Sequence[int]) -> Mapping[int, tuple[int, int]]:
    """The 👍 and 👎 of each issue, in one request for a hundred of them; an issue that is not there is left out."""
    found: dict[int, tuple[int, int]] = {}
    for start in range(0, len(numbers), PAGE):
        asked = numbers[start : start + PAGE]
        issues = "\n".join(f"i{number}: issue(number: {number}) {{ ...given }}" for number in asked)
        query = (
            f"query Reactions($owner: String!, $name: String!) {{\n"
            f"repository(owner: $owner, name: $name) {{\n{issues}\n}}\n}}\n"
            "fragment given on Issue {\n"
            "up: reactions(content: THUMBS_UP, first: 1) { totalCount }\n"
            "down: reactions(content: THUMBS_DOWN, first: 1) { totalCount }\n}"
        )
        variables = {"owner": repo.owner, "name": repo.name}
        operation = f"count the reactions to issues in {repo}"
        data, errors = api.graphql(operation, query, variables)
        answers = data.get("repository")
        if answers is None:
            raise GitHubError(operation, 200, errors[0].message if errors else "the answer is empty")
        for number in asked:
            if given := answers.get(f"i{number}"):
                found[number] = given["up"]["totalCount"], given["down"]["totalCount"]
    return found
