"""How many people gave an issue a 👍 or a 👎, through GraphQL: many issues in one request.

Nothing else tells: GitHub sends no event for a reaction, and does not call an issue changed because of one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.errors import GitHubError
from bot.github.api.aliases import ask_of_issues
from bot.github.api.calls import Api
from bot.model import RepoRef

_COUNTS = """
  up: reactions(content: THUMBS_UP, first: 1) { totalCount }
  down: reactions(content: THUMBS_DOWN, first: 1) { totalCount }
"""


def reactions(api: Api, repo: RepoRef, numbers: Sequence[int]) -> Mapping[int, tuple[int, int]]:
    """The 👍 and 👎 of each issue, in one request for a hundred of them; an issue that is not there is left out."""
    operation = f"count the reactions to issues in {repo}"
    found: dict[int, tuple[int, int]] = {}
    for part in ask_of_issues(api, operation, repo, numbers, _COUNTS):
        if part.repository is None:
            raise GitHubError(operation, 200, part.errors[0].message if part.errors else "the answer is empty")
        found |= {
            number: (given["up"]["totalCount"], given["down"]["totalCount"]) for number, given in part.issues.items()
        }
    return found
