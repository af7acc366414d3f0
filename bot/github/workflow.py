"""The workflow state of issues: a single-select field of their project items, through GraphQL (F7).

https://docs.github.com/graphql/reference/objects#projectv2item
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.errors import GitHubError, Retryable
from bot.github.api import Api
from bot.model import RepoRef

DEFAULT_FIELDS = ("Workflow State", "Status")
"""Looked for in this order where no name is set."""

_ITEMS = 10


@dataclass(frozen=True, slots=True)
class WorkflowStates:
    """The state of each issue asked for, None where it has none. `reason` says why nothing was read, else empty."""

    states: Mapping[int, str | None]
    reason: str = ""


def workflow_states(api: Api, repo: RepoRef, numbers: Sequence[int], field: str | None) -> WorkflowStates:
    """The states of all `numbers` in one request. Never raises for GitHub's sake: the finding goes on without them."""
    if not numbers:
        return WorkflowStates({})
    fields = (field,) if field else DEFAULT_FIELDS
    variables = {"owner": repo.owner, "name": repo.name} | {f"f{i}": name for i, name in enumerate(fields)}
    data: Mapping[str, Any] = {}
    try:
        data, errors = api.graphql(f"read the workflow states in {repo}", query_for(numbers, len(fields)), variables)
        # Among many numbers one may have been deleted or transferred meanwhile, which says nothing about projects.
        problem = next((error.message for error in errors if error.type != "NOT_FOUND"), "")
    except (GitHubError, Retryable) as error:
        problem = str(error)
    issues = data.get("repository") or {}
    states = {number: state_of(issues.get(f"i{number}"), len(fields)) for number in numbers}
    return WorkflowStates(states, "" if any(states.values()) or not problem else f"projects cannot be read: {problem}")


def query_for(numbers: Sequence[int], fields: int) -> str:
    """One GraphQL query with an alias per issue and field. Names travel as variables, never inside the query."""
    variables = "".join(f", $f{i}: String!" for i in range(fields))
    values = " ".join(
        f"v{i}: fieldValueByName(name: $f{i}) {{ ... on ProjectV2ItemFieldSingleSelectValue {{ name }} }}"
        for i in range(fields)
    )
    issues = "\n".join(f"i{number}: issue(number: {number}) {{ ...state }}" for number in dict.fromkeys(numbers))
    return (
        f"query States($owner: String!, $name: String!{variables}) {{\n"
        f"repository(owner: $owner, name: $name) {{\n{issues}\n}}\n}}\n"
        f"fragment state on Issue {{ projectItems(first: {_ITEMS}) {{ nodes {{ {values} }} }} }}"
    )


def state_of(issue: Mapping[str, Any] | None, fields: int) -> str | None:
    """The first value of the first field that any of the issue's project items has."""
    nodes = ((issue or {}).get("projectItems") or {}).get("nodes") or ()
    for index in range(fields):
        for node in nodes:
            if name := ((node or {}).get(f"v{index}") or {}).get("name"):
                return str(name)
    return None
