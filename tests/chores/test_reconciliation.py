"""C6a: where GitHub's lists and the store differ, a pure comparison."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.entities import RepoRef, Repository
from bot.storage.repositories import StoredRepository
from handlers.installations import Listed, compare

OWNERS = {1: "acme", 2: "globex", 3: "acme"}


def repository(key: int, owner: str, private: bool = False) -> Repository:
    return Repository(key, RepoRef(owner, f"r{key}"), private, False)


def row(key: int, installation: int | None, owner: str = "acme", suspended: bool = False) -> StoredRepository:
    return StoredRepository(key, RepoRef(owner, f"r{key}"), False, False, installation, suspended)


def test_c6a_what_is_listed_nowhere_is_missing() -> None:
    listed = [Listed(1, "acme", False, (repository(5, "acme"),))]
    missing, changed = compare(listed, [row(5, 1), row(6, 1), row(7, 9), row(8, None)])
    assert ([one.id for one in missing], changed) == ([6, 7, 8], [])


def test_c6a_nothing_is_missing_where_repositories_are_not_told() -> None:
    listed = [Listed(1, "Acme", True, None)]
    missing, _ = compare(listed, [row(5, 1), row(6, None), row(7, 9), row(8, 1, "moved")])
    assert missing == []


def test_c6a_new_ones_and_those_that_differ_are_taken_over() -> None:
    listed = [Listed(1, "acme", False, (repository(5, "acme", private=True), repository(6, "acme")))]
    _, changed = compare(listed, [row(5, 1), row(6, 2)])
    assert [(summary.id, summary.private, installation) for summary, installation in changed] == [
        (5, True, 1),
        (6, False, 1),
    ]
    assert compare(listed, [])[1] == changed


ROWS = st.lists(
    st.builds(
        row, st.integers(1, 6), st.sampled_from([1, 2, 9, None]), st.sampled_from(["acme", "globex"]), st.booleans()
    ),
    unique_by=lambda one: one.id,
)
KEYS = st.none() | st.lists(st.integers(1, 6), unique=True)


@pytest.mark.slow
@given(ROWS, KEYS, KEYS)
def test_c6a_who_takes_the_differences_over_has_none_left(
    stored: list[StoredRepository], first: list[int] | None, second: list[int] | None
) -> None:
    taken = set(first or ())
    lists = {1: first, 2: None if second is None else [key for key in second if key not in taken]}
    listed = [
        Listed(
            key, OWNERS[key], keys is None, None if keys is None else tuple(repository(k, OWNERS[key]) for k in keys)
        )
        for key, keys in lists.items()
    ]
    missing, changed = compare(listed, stored)
    rows = {one.id: one for one in stored if one not in missing}
    for summary, installation in changed:
        rows[summary.id] = StoredRepository(
            summary.id, summary.ref, summary.private, summary.archived, installation, suspended=False
        )
    assert compare(listed, list(rows.values())) == ([], [])
    assert not {one.id for one in missing} & {k for keys in lists.values() for k in keys or ()}
