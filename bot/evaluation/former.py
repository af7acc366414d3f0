"""Former names of a repository: who wrote `mozilla/rust#12` of rust-lang/rust before it moved meant its own issue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from bot.errors import Forbidden, InvalidArgument, NotFound
from bot.evaluation.statements import Statement
from bot.model import RepoRef, Repository

#: Places that are asked about at most, those that are named most.
MOST = 5


class Names(Protocol):
    """The one read of GitHub that is needed here."""

    def repository(self, repo: RepoRef) -> Repository: ...


def former_names(github: Names, repo_id: int, said: Iterable[Statement]) -> frozenset[str]:
    """Of the places that statements name, which lead to this repository today; in small letters.

    GitHub leads from a former name to the present one. Raises RateLimited and Unavailable; what is not to be seen is
    somewhere else.
    """
    places = Counter(one.elsewhere.partition("#")[0] for one in said if one.elsewhere)
    found = set()
    for place, _ in places.most_common(MOST):
        with suppress(NotFound, Forbidden, InvalidArgument):
            if github.repository(RepoRef.parse(place)).id == repo_id:
                found.add(place)
    return frozenset(found)


def at_home(said: Iterable[Statement], former: Collection[str]) -> tuple[Statement, ...]:
    """The same statements, in which what one of the former names has is of this repository. Pure."""
    return tuple(_at_home(one, former) for one in said)


def _at_home(one: Statement, former: Collection[str]) -> Statement:
    place, _, number = one.elsewhere.partition("#")
    return replace(one, of=int(number), elsewhere="") if place in former else one
