"""A question about many issues of a repository, through GraphQL: each has an alias, and a hundred are asked at once.

GitHub answers in part: an issue that it cannot give is null, and so may be a field of one that it gives. `errors` say
why, each with a path that leads through the alias, such as `["repository", "i12", "duplicateOf"]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from githubkit.graphql import GraphQLError

from bot.batches import batches
from bot.github.api.calls import PAGE, Api, is_failure
from bot.model import RepoRef


@dataclass(frozen=True, slots=True)
class Part:
    """What GitHub answers about those that were asked at once.

    `repository` has what was asked of the repository itself, None where GitHub gives nothing of it. `issues` are those
    that it gives, by number. `errors` are all that it says went wrong, `errors_of` those over single issues, by number.
    """

    repository: Mapping[str, Any] | None
    issues: Mapping[int, Mapping[str, Any]]
    errors: Sequence[GraphQLError]
    errors_of: Mapping[int, Sequence[GraphQLError]]

    def failed(self, number: int) -> bool:
        """Whether GitHub itself failed over the issue or a field of it, so that what is null there says nothing."""
        return any(map(is_failure, self.errors_of.get(number, ())))


def ask_of_issues(
    api: Api,
    operation: str,
    repo: RepoRef,
    numbers: Sequence[int],
    fields: str,
    *,
    beside: str = "",
    texts: Mapping[str, str] | None = None,
) -> Iterator[Part]:
    """Ask for the `fields` of each issue, and for those `beside` of the repository, with a request for every hundred.

    `texts` are variables: what others wrote travels in them, never inside the query. Raises as `Api.graphql` does.
    """
    variables = {"owner": repo.owner, "name": repo.name, **(texts or {})}
    for asked in batches(list(dict.fromkeys(numbers)), PAGE):
        data, errors = api.graphql(operation, _query(asked, fields, beside, variables), variables)
        yield _part(asked, data.get("repository"), errors)


def _query(numbers: Sequence[int], fields: str, beside: str, variables: Iterable[str]) -> str:
    """One query about all the `numbers`; every variable is a text."""
    declared = ", ".join(f"${name}: String!" for name in variables)
    issues = "\n".join(f"{_alias(number)}: issue(number: {number}) {{ ...asked }}" for number in numbers)
    return (
        f"query Issues({declared}) {{\n"
        f"repository(owner: $owner, name: $name) {{\n{beside}\n{issues}\n}}\n}}\n"
        f"fragment asked on Issue {{ {fields} }}"
    )


def _part(asked: Sequence[int], answer: Mapping[str, Any] | None, errors: Sequence[GraphQLError]) -> Part:
    given = answer or {}
    errors_of = {
        number: [error for error in errors if error.path and error.path[:2] == ["repository", _alias(number)]]
        for number in asked
    }
    return Part(
        answer,
        {number: issue for number in asked if (issue := given.get(_alias(number)))},
        errors,
        {number: found for number, found in errors_of.items() if found},
    )


def _alias(number: int) -> str:
    """What an issue is called in a query, in its answer, and in the paths of the errors."""
    return f"i{number}"
