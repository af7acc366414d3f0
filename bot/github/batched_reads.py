"""Reads a hundred issues of a repository with a single GraphQL request. Each issue has an alias, such as `i12`.

GitHub's answer can be partial: an unreadable issue or field is null. Then `errors` has the cause.
An error's path contains the alias, such as `["repository", "i12", "duplicateOf"]`.
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
    """GitHub's answer to a request.

    `repository` has the repository's own fields, None if GitHub returned none. `issues` are the returned issues by
    number. `errors` are all errors; `errors_of` are the errors about single issues, by the issue's number.
    """

    repository: Mapping[str, Any] | None
    issues: Mapping[int, Mapping[str, Any]]
    errors: Sequence[GraphQLError]
    errors_of: Mapping[int, Sequence[GraphQLError]]

    def failed(self, number: int) -> bool:
        """Whether GitHub failed internally on this issue. If so, a field that is null may have a value after all."""
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
    """Read `fields` of each issue, a hundred issues per request. Raises like `Api.graphql`.

    `of_repository` names the repository's fields to read, too. `texts` become variables: put people's texts only there.
    """
    variables = {"owner": repo.owner, "name": repo.name, **(texts or {})}
    declared = ", ".join(f"${name}: String!" for name in variables)
    for batch in batches(list(dict.fromkeys(numbers)), PAGE):
        issues = "\n".join(f"i{number}: issue(number: {number}) {{ ...asked }}" for number in batch)
        query = (
            f"query Issues({declared}) {{\n"
            f"repository(owner: $owner, name: $name) {{\n{of_repository}\n{issues}\n}}\n}}\n"
            f"fragment asked on Issue {{ {fields} }}"
        )
        data, errors = api.graphql(operation, query, variables)
        repository: Mapping[str, Any] | None = data.get("repository")
        found = {number: repository[f"i{number}"] for number in batch if repository and repository.get(f"i{number}")}
        errors_of = {
            number: [error for error in errors if error.path and error.path[:2] == ["repository", f"i{number}"]]
            for number in batch
        }
        yield Batch(repository, found, errors, {number: causes for number, causes in errors_of.items() if causes})


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
# A commit's SHA-1 or SHA-256.
_HASH = re.compile("[0-9a-f]{40,64}")


class Closings(NamedTuple):
    """What closed each issue, by the issue's number, and the repository's latest releases."""

    by_issue: Mapping[int, Closer]
    releases: tuple[Release, ...] = ()


def closers(api: Api, repo: RepoRef, numbers: Sequence[int]) -> Closings:
    """What last closed each of these issues.

    The result omits closers in other repositories, which some readers may not see. It omits an
    issue if closer and milestone are both unknown. If GitHub fails, the result is incomplete.
    """
    found: dict[int, Closer] = {}
    releases: tuple[Release, ...] = ()
    operation = f"read what closed issues in {repo}"
    with suppress(GitHubError, Retryable):
        for batch in read_issues(api, operation, repo, numbers, _CLOSER, of_repository=_RELEASES):
            releases = _releases(batch.repository or {})
            for number, issue in batch.issues.items():
                closer = _closer(issue, repo)
                if closer.pull or closer.commit or closer.milestone:
                    found[number] = closer
    return Closings(found, releases)


def _closer(issue: Mapping[str, Any], repo: RepoRef) -> Closer:
    nodes = [node for node in (issue.get("timelineItems") or {}).get("nodes") or () if node]
    closer = next((node["closer"] for node in nodes if node.get("closer")), None) or {}
    at = next((moment(node["createdAt"]) for node in nodes), None)
    if name_key((closer.get("repository") or {}).get("nameWithOwner", "")) != repo.key:
        closer = {}
    is_pull = closer.get("__typename") == "PullRequest"
    milestone = (issue.get("milestone") or closer.get("milestone") or {}).get("title") or ""
    commit = closer.get("oid", "") if _HASH.fullmatch(closer.get("oid", "")) else ""
    return Closer(int(closer["number"]) if is_pull else 0, commit, at, milestone)


def _releases(repository: Mapping[str, Any]) -> tuple[Release, ...]:
    nodes = (repository.get("releases") or {}).get("nodes") or ()
    return tuple(
        Release(node["tagName"], moment(node["publishedAt"]))
        for node in nodes
        if node and node.get("publishedAt") and not (node["isDraft"] or node["isPrerelease"])
    )


_ORIGINAL = "duplicateOf { number repository { nameWithOwner } }"


def duplicate_of(api: Api, repo: RepoRef, number: int) -> IssueRef | None:
    """The original of a closed duplicate. None if no original can be read. Raises Unavailable."""
    operation = f"read the original of {repo}#{number}"
    (batch,) = read_issues(api, operation, repo, [number], _ORIGINAL)
    if batch.failed(number):
        raise Unavailable(f"{operation}: GitHub failed on this issue")
    return _original(batch.issues.get(number, {}))


def originals(api: Api, repo: RepoRef, numbers: Sequence[int]) -> Mapping[int, int | None]:
    """The original of each issue; None if there is none, or if the original is hidden or in another repository.

    The result omits issues that GitHub failed to read. On servers without `duplicateOf`, the result is empty.
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
    """The counts of 👍 and 👎 on each issue that exists. Raises GitHubError if the repository cannot be read."""
    operation = f"count the reactions to issues in {repo}"
    found: dict[int, tuple[int, int]] = {}
    for batch in read_issues(api, operation, repo, numbers, _COUNTS):
        if batch.repository is None:
            raise GitHubError(operation, 200, batch.errors[0].message if batch.errors else "the answer is empty")
        found |= {
            number: (issue["up"]["totalCount"], issue["down"]["totalCount"]) for number, issue in batch.issues.items()
        }
    return found


DEFAULT_FIELDS = ("Workflow State", "Status")
"""The fields of a project to look for, in this order, if the host names no field."""


@dataclass(frozen=True, slots=True)
class WorkflowStates:
    """The workflow state of each issue, or None. If all are None and an error occurred, `reason` names the error."""

    states: Mapping[int, str | None]
    reason: str


def workflow_states(api: Api, repo: RepoRef, numbers: Sequence[int], field: str | None = None) -> WorkflowStates:
    """The states of all `numbers`, from the project's `field` (None: DEFAULT_FIELDS). Errors become a `reason`."""
    field_names = {f"f{i}": name for i, name in enumerate((field,) if field else DEFAULT_FIELDS)}
    values = " ".join(
        f"v{i}: fieldValueByName(name: $f{i}) {{ ... on ProjectV2ItemFieldSingleSelectValue {{ name }} }}"
        for i in range(len(field_names))
    )
    items = f"projectItems(first: 10) {{ nodes {{ {values} }} }}"
    states: dict[int, str | None] = dict.fromkeys(numbers)
    problem = ""
    try:
        operation = f"read the workflow states in {repo}"
        for batch in read_issues(api, operation, repo, numbers, items, texts=field_names):
            states |= {number: state_of(issue, len(field_names)) for number, issue in batch.issues.items()}
            # Ignore NOT_FOUND: an issue that was deleted or transferred meanwhile says nothing about projects.
            problem = problem or next((error.message for error in batch.errors if error.type != "NOT_FOUND"), "")
    except (GitHubError, Retryable) as error:
        problem = str(error)
    reason = f"projects cannot be read: {problem}" if problem and not any(states.values()) else ""
    return WorkflowStates(states, reason)


def state_of(issue: Mapping[str, Any], field_count: int) -> str | None:
    """The value of the first field (`v0`, `v1`, …) that is set in any of the issue's project items."""
    nodes = (issue.get("projectItems") or {}).get("nodes") or ()
    for index in range(field_count):
        for node in nodes:
            if name := ((node or {}).get(f"v{index}") or {}).get("name"):
                return str(name)
    return None
