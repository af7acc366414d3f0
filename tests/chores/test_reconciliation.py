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
    found = compare(listed, [row(5, 1), row(6, 1), row(7, 9), row(8, None)])
    assert [one.id for one in found.missing] == [6, 7, 8]
    assert (found.changed, found.suspensions) == ((), ())


def test_c6a_nothing_is_missing_where_repositories_are_not_told() -> None:
    listed = [Listed(1, "Acme", True, None)]
    found = compare(listed, [row(5, 1), row(6, None), row(7, 9), row(8, 1, "moved")])
    assert found.missing == ()
    assert found.suspensions == ((1, True),)


def test_c6a_new_ones_and_those_that_differ_are_taken_over() -> None:
    listed = [Listed(1, "acme", False, (repository(5, "acme", private=True), repository(6, "acme")))]
    found = compare(listed, [row(5, 1), row(6, 2)])
    assert [(summary.id, summary.private, installation) for summary, installation in found.changed] == [
        (5, True, 1),
        (6, False, 1),
    ]
    assert compare(listed, []).changed == found.changed


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
    found = compare(listed, stored)
    rows = {one.id: one for one in stored if one not in found.missing}
    for summary, installation in found.changed:
        suspended = rows[summary.id].suspended if summary.id in rows else False
        rows[summary.id] = StoredRepository(
            summary.id, summary.ref, summary.private, summary.archived, installation, suspended
        )
    states = dict(compare(listed, list(rows.values())).suspensions)
    settled = [
        StoredRepository(
            one.id,
            one.ref,
            one.private,
            one.archived,
            one.installation,
            states.get(one.installation, one.suspended) if one.installation else one.suspended,
        )
        for one in rows.values()
    ]
    again = compare(listed, settled)
    assert (again.missing, again.changed, again.suspensions) == ((), (), ())
    assert not {one.id for one in found.missing} & {k for keys in lists.values() for k in keys or ()}
