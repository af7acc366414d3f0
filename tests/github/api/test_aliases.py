"""Many issues in one query, and what becomes of an answer in part."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest
from githubkit.graphql import GraphQLError
from graphql import parse
from hypothesis import given
from hypothesis import strategies as st

from bot.github.batched_reads import read_issues
from bot.github.calls import Api
from tests.github.conftest import REPO


class HalfOfThem:
    """A GitHub that gives issues with even numbers alone, and says of the others that they are not there."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []

    def graphql(
        self, _operation: str, query: str, variables: Mapping[str, str]
    ) -> tuple[Mapping[str, Any], Sequence[GraphQLError]]:
        parse(query)
        assert set(re.findall(r"\$(\w+): String!", query)) == variables.keys()
        numbers = {alias: int(number) for alias, number in re.findall(r"(\w+): issue\(number: (\d+)\)", query)}
        self.asked.append(list(numbers.values()))
        answer = {alias: None if number % 2 else {"number": number} for alias, number in numbers.items()}
        errors = [
            GraphQLError(type="NOT_FOUND", message=f"no #{number}", path=["repository", alias])
            for alias, number in numbers.items()
            if number % 2
        ]
        return {"repository": {"databaseId": 7, **answer}}, errors


@pytest.mark.slow
@given(st.lists(st.integers(1, 2**31), max_size=250), st.dictionaries(st.sampled_from(("f0", "f1")), st.text()))
def test_each_is_asked_once_a_hundred_at_a_time_and_answered_under_its_number(
    numbers: list[int], texts: dict[str, str]
) -> None:
    github = HalfOfThem()
    parts = list(
        read_issues(cast("Api", github), "ask", REPO, numbers, "number", of_repository="databaseId", texts=texts)
    )
    different = list(dict.fromkeys(numbers))
    assert github.asked == [different[at : at + 100] for at in range(0, len(different), 100)]
    assert [part.repository and part.repository["databaseId"] for part in parts] == [7] * len(github.asked)
    given = {number: issue["number"] for part in parts for number, issue in part.issues.items()}
    assert given == {number: number for number in different if number % 2 == 0}
    refused = {number: [one.message for one in errors] for part in parts for number, errors in part.errors_of.items()}
    assert refused == {number: [f"no #{number}"] for number in different if number % 2}


class InPart:
    """A GitHub with one answer."""

    def __init__(self, data: Mapping[str, Any], *paths: list[int | str] | None) -> None:
        self._answer = data, [GraphQLError(message="no", path=path) for path in paths]

    def graphql(self, *_: object) -> tuple[Mapping[str, Any], Sequence[GraphQLError]]:
        return self._answer


def test_an_error_over_a_field_is_one_over_its_issue() -> None:
    github = InPart({"repository": {"i1": None, "i12": {"title": None}}}, ["repository", "i12", "title"])
    (part,) = read_issues(cast("Api", github), "ask", REPO, [1, 12], "title")
    assert part.issues == {12: {"title": None}}
    assert {number: list(errors) for number, errors in part.errors_of.items()} == {12: list(part.errors)}
