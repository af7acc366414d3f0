"""Under which names a repository was known before, which those who marked duplicates then have used."""

from __future__ import annotations

from bot.domain.entities import RepoRef, Repository
from bot.domain.errors import NotFound
from bot.github.repository import RepoClient
from bot.quality.evaluation.reading import MOST, former_names
from bot.quality.evaluation.statements import Kind, Statement


def test_of_many_places_only_those_named_most_are_asked_about() -> None:
    asked = []

    class GitHub(RepoClient):
        def __init__(self) -> None: ...

        def repository(self, repo: RepoRef) -> Repository:
            asked.append(str(repo))
            raise NotFound("read it", 404, "")

    often = [Statement(Kind.SAYS, None, "", "", f"acme/old#{n}") for n in (1, 2)]
    others = [Statement(Kind.SAYS, None, "", "", f"acme/other-{n}#1") for n in range(50)]
    assert former_names(GitHub(), 1, [*others, *often, Statement(Kind.SAYS, 3, "")]) == frozenset()
    assert len(asked) == MOST
    assert asked[0] == "acme/old"
