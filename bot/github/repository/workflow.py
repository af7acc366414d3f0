"""The workflow state of issues: a single-select field of their project items, through GraphQL (F7).

https://docs.github.com/graphql/reference/objects#projectv2item
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.errors import GitHubError, Retryable
from bot.github.api.aliases import ask_of_issues
from bot.github.api.calls import Api
from bot.model import RepoRef

DEFAULT_FIELDS = ("Workflow State", "Status")
"""Looked for in this order where no name is set."""

_ITEMS = 10


@dataclass(frozen=True, slots=True)
class WorkflowStates:
    """The state of each issue asked for, None where it has none. `reason` says why nothing was read, else empty."""

    states: Mapping[int, str | None]
    reason: str


def workflow_states(api: Api, repo: RepoRef, numbers: Sequence[int], field: str | None = None) -> WorkflowStates:
    """The states of all `numbers`, a hundred in a request. Never raises for GitHub's sake: the finding goes on without.

    Names of fields travel as variables, never inside the query.
    """
    names = {f"f{i}": name for i, name in enumerate((field,) if field else DEFAULT_FIELDS)}
    values = " ".join(
        f"v{i}: fieldValueByName(name: $f{i}) {{ ... on ProjectV2ItemFieldSingleSelectValue {{ name }} }}"
        for i in range(len(names))
    )
    items = f"projectItems(first: {_ITEMS}) {{ nodes {{ {values} }} }}"
    states: dict[int, str | None] = dict.fromkeys(numbers)
    problem = ""
    try:
        for part in ask_of_issues(api, f"read the workflow states in {repo}", repo, numbers, items, texts=names):
            states |= {number: state_of(issue, len(names)) for number, issue in part.issues.items()}
            # Among many numbers one may have been deleted or transferred meanwhile, which says nothing about projects.
            problem = problem or next((error.message for error in part.errors if error.type != "NOT_FOUND"), "")
    except (GitHubError, Retryable) as error:
        problem = str(error)
    return WorkflowStates(states, "" if any(states.values()) or not problem else f"projects cannot be read: {problem}")


def state_of(issue: Mapping[str, Any], fields: int) -> str | None:
    """The first value of the first field that any of the issue's project items has."""
    nodes = (issue.get("projectItems") or {}).get("nodes") or ()
    for index in range(fields):
        for node in nodes:
            if name := ((node or {}).get(f"v{index}") or {}).get("name"):
                return str(name)
    return None
