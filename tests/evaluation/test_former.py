"""Under which names a repository was known before, which those who marked duplicates then have used."""

from __future__ import annotations

from bot.domain.entities import RepoRef, Repository
from bot.domain.errors import NotFound
from bot.github.repository import RepoClient
from bot.quality.evaluation.history import MOST_FORMER_NAMES, find_former_names
from bot.quality.evaluation.statements import Statement, StatementKind


def test_of_many_places_only_those_named_most_are_asked_about() -> None:
    asked = []

    class GitHub(RepoClient):
        def __init__(self) -> None: ...

        def repository(self, repo: RepoRef) -> Repository:
            asked.append(str(repo))
            raise NotFound("read it", 404, "")

    often = [Statement(StatementKind.SAYS, None, "", "", f"acme/old#{n}") for n in (1, 2)]
    others = [Statement(StatementKind.SAYS, None, "", "", f"acme/other-{n}#1") for n in range(50)]
    assert find_former_names(GitHub(), 1, [*others, *often, Statement(StatementKind.SAYS, 3, "")]) == frozenset()
    assert len(asked) == MOST_FORMER_NAMES
    assert asked[0] == "acme/old"
