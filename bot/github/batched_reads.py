"""Batched GraphQL reads: a hundred issues of a repository in one request, each under an alias.

GitHub answers in part: an issue, or a field of one, is null if it cannot be given. `errors` say why, each with a path
through the alias, such as `["repository", "i12", "duplicateOf"]`.
https://docs.github.com/graphql/reference/objects#issue
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from githubkit.graphql import GraphQLError

from bot.domain.entities import Closer, IssueRef, Release, RepoRef, name_key
from bot.domain.errors import GitHubError, Retryable, Unavailable
from bot.domain.formats import batches
from bot.github.calls import PAGE, Api, is_failure
from bot.github.convert import moment


@dataclass(frozen=True, slots=True)
class Batch:
    """GitHub's answer to one request.

    `repository` has the fields of the repository itself, None if GitHub gives none. `issues` has those that it gives,
    by number. `errors` are all errors, `errors_of` those about single issues, by number.
    """

    repository: Mapping[str, Any] | None
    issues: Mapping[int, Mapping[str, Any]]
    errors: Sequence[GraphQLError]
    errors_of: Mapping[int, Sequence[GraphQLError]]

    def failed(self, number: int) -> bool:
        """Whether GitHub itself failed over the issue or a field of it, so that null there means nothing."""
        return any(map(is_failure, self.errors_of.get(number, ())))


def read_issues(
    api: Api,
    operation: str,
    repo: RepoRef,
    numbers: Sequence[int],
    fields: str,
    *,
    of_repository: str = "",
    texts: Mapping[str, str] | None = None,
) -> Iterator[Batch]:
    """Ask for the `fields` of each issue and those `of_repository`, with a request for every hundred issues.

    `texts` are further variables: people's words travel in them, never inside the query. Raises as `Api.graphql` does.
    """
    variables = {"owner": repo.owner, "name": repo.name, **(texts or {})}
    declared = ", ".join(f"${name}: String!" for name in variables)
    for asked in batches(list(dict.fromkeys(numbers)), PAGE):
        issues = "\n".join(f"i{number}: issue(number: {number}) {{ ...asked }}" for number in asked)
        query = (
            f"query Issues({declared}) {{\n"
            f"repository(owner: $owner, name: $name) {{\n{of_repository}\n{issues}\n}}\n}}\n"
            f"fragment asked on Issue {{ {fields} }}"
        )
        data, errors = api.graphql(operation, query, variables)
        answer: Mapping[str, Any] | None = data.get("repository")
        found = {number: issue for number in asked if (issue := (answer or {}).get(f"i{number}"))}
        errors_of = {
            number: [error for error in errors if error.path and error.path[:2] == ["repository", f"i{number}"]]
            for number in asked
        }
        yield Batch(answer, found, errors, {number: some for number, some in errors_of.items() if some})


_HOME = "repository { nameWithOwner }"
_CLOSER = f"""
    milestone {{ title }}
    timelineItems(last: 1, itemTypes: [CLOSED_EVENT]) {{ nodes {{ ... on ClosedEvent {{ createdAt closer {{
        __typename
        ... on PullRequest {{ number milestone {{ title }} {_HOME} }}
        ... on Commit {{ oid {_HOME} }}
    }} }} }} }}"""
_RELEASES = """
    releases(first: 50, orderBy: {field: CREATED_AT, direction: DESC}) {
        nodes { tagName publishedAt isDraft isPrerelease }
    }"""
_HASH = re.compile("[0-9a-f]{40,64}")


class Closings(NamedTuple):
    """What closed issues, by number, and the latest releases of the repository."""

    by_issue: Mapping[int, Closer]
    releases: tuple[Release, ...] = ()


def closers(api: Api, repo: RepoRef, numbers: Sequence[int]) -> Closings:
    """What last closed each of these issues, in one request for a hundred of them.

    It leaves out issues without a milestone that a person closed by hand, and closers in another repository, which not
    every reader may see. Errors of GitHub's only make the result smaller: a comment goes without.
    """
    found: dict[int, Closer] = {}
    releases: tuple[Release, ...] = ()
    operation = f"read what closed issues in {repo}"
    with suppress(GitHubError, Retryable):
        for batch in read_issues(api, operation, repo, numbers, _CLOSER, of_repository=_RELEASES):
            releases = _releases(batch.repository or {})
            for number, issue in batch.issues.items():
                if (closer := _closer(issue, repo)) != Closer(at=closer.at):
                    found[number] = closer
    return Closings(found, releases)


def _closer(issue: Mapping[str, Any], repo: RepoRef) -> Closer:
    nodes = [node for node in (issue.get("timelineItems") or {}).get("nodes") or () if node]
    by = next((node["closer"] for node in nodes if node.get("closer")), None) or {}
    at = next((moment(node["createdAt"]) for node in nodes), None)
    if name_key((by.get("repository") or {}).get("nameWithOwner", "")) != repo.key:
        by = {}
    is_pull = by.get("__typename") == "PullRequest"
    title = (issue.get("milestone") or by.get("milestone") or {}).get("title") or ""
    commit = by.get("oid", "") if _HASH.fullmatch(by.get("oid", "")) else ""
    return Closer(int(by["number"]) if is_pull else 0, commit, at, title)


def _releases(repository: Mapping[str, Any]) -> tuple[Release, ...]:
    nodes = (repository.get("releases") or {}).get("nodes") or ()
    return tuple(
        Release(node["tagName"], moment(node["publishedAt"]))
        for node in nodes
        if node and node.get("publishedAt") and not (node["isDraft"] or node["isPrerelease"])
    )


_ORIGINAL = "duplicateOf { number repository { nameWithOwner } }"


def duplicate_of(api: Api, repo: RepoRef, number: int) -> IssueRef | None:
    """The issue that this one is closed as a duplicate of, if we can see it. Raises Unavailable if GitHub failed."""
    operation = f"read the original of {repo}#{number}"
    (batch,) = read_issues(api, operation, repo, [number], _ORIGINAL)
    if batch.failed(number):
        raise Unavailable(f"{operation}: GitHub failed over it")
    return _original(batch.issues.get(number, {}))


def originals(api: Api, repo: RepoRef, numbers: Sequence[int]) -> Mapping[int, int | None]:
    """The original of each of these issues, if it is in the same repository; None as for `duplicate_of`, or elsewhere.

    It leaves out issues over which GitHub failed, and all issues on servers whose GraphQL has no such field.
    """
    found: dict[int, int | None] = {}
    for batch in read_issues(api, f"read the originals of issues in {repo}", repo, numbers, _ORIGINAL):
        for number, issue in batch.issues.items():
            if batch.failed(number):
                continue
            original = _original(issue)
            found[number] = original.number if original and original.repo.key == repo.key else None
    return found


def _original(issue: Mapping[str, Any]) -> IssueRef | None:
    original = issue.get("duplicateOf")
    return IssueRef(RepoRef.parse(original["repository"]["nameWithOwner"]), original["number"]) if original else None


_COUNTS = """
  up: reactions(content: THUMBS_UP, first: 1) { totalCount }
  down: reactions(content: THUMBS_DOWN, first: 1) { totalCount }
"""


def reactions(api: Api, repo: RepoRef, numbers: Sequence[int]) -> Mapping[int, tuple[int, int]]:
    """The 👍 and 👎 of each issue that exists."""
    operation = f"count the reactions to issues in {repo}"
    found: dict[int, tuple[int, int]] = {}
    for batch in read_issues(api, operation, repo, numbers, _COUNTS):
        if batch.repository is None:
            raise GitHubError(operation, 200, batch.errors[0].message if batch.errors else "the answer is empty")
        found |= {
            number: (given["up"]["totalCount"], given["down"]["totalCount"]) for number, given in batch.issues.items()
        }
    return found


DEFAULT_FIELDS = ("Workflow State", "Status")
"""The fields to look for, in this order, if no name is set."""


@dataclass(frozen=True, slots=True)
class WorkflowStates:
    """The state of each issue, None if it has none. `reason` says why nothing was read, else it is empty."""

    states: Mapping[int, str | None]
    reason: str


def workflow_states(api: Api, repo: RepoRef, numbers: Sequence[int], field: str | None = None) -> WorkflowStates:
    """The states of all `numbers`. Errors of GitHub's become a `reason`: the search goes on without states."""
    names = {f"f{i}": name for i, name in enumerate((field,) if field else DEFAULT_FIELDS)}
    values = " ".join(
        f"v{i}: fieldValueByName(name: $f{i}) {{ ... on ProjectV2ItemFieldSingleSelectValue {{ name }} }}"
        for i in range(len(names))
    )
    items = f"projectItems(first: 10) {{ nodes {{ {values} }} }}"
    states: dict[int, str | None] = dict.fromkeys(numbers)
    problem = ""
    try:
        for batch in read_issues(api, f"read the workflow states in {repo}", repo, numbers, items, texts=names):
            states |= {number: state_of(issue, len(names)) for number, issue in batch.issues.items()}
            # That an issue was deleted or transferred meanwhile says nothing about projects.
            problem = problem or next((error.message for error in batch.errors if error.type != "NOT_FOUND"), "")
    except (GitHubError, Retryable) as error:
        problem = str(error)
    return WorkflowStates(states, "" if any(states.values()) or not problem else f"projects cannot be read: {problem}")


def state_of(issue: Mapping[str, Any], fields: int) -> str | None:
    """The value of the first of these fields that any of the issue's project items has."""
    nodes = (issue.get("projectItems") or {}).get("nodes") or ()
    for index in range(fields):
        for node in nodes:
            if name := ((node or {}).get(f"v{index}") or {}).get("name"):
                return str(name)
    return None
