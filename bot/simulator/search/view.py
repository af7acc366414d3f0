"""The repositories that a query reaches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from bot.simulator.search.errors import unsearchable_scope
from bot.simulator.search.syntax import Qualifier


class View:
    """The repositories that a query names with `repo:`, `user:` or `org:` (else all) and that the viewer may see.

    `known` has all full names in lower case. In each group of `scopes`, one qualifier must hold.
    `login` resolves `@me`. Raises QueryError if the query names repositories and the viewer sees none of them. If the
    viewer sees some, the others are silently left out (REST "Access errors or missing search results").
    """

    def __init__(
        self,
        known: Iterable[str],
        in_repository: Mapping[str, set[int]],
        visible: Callable[[str], bool],
        scopes: Sequence[Sequence[Qualifier]],
        login: Callable[[str], str],
    ) -> None:
        self._in_repository = in_repository
        in_sight = [name for name in known if visible(name)]
        reached = [_named(alternatives, in_sight, login) for alternatives in scopes]
        if scopes and not any(reached):
            raise unsearchable_scope()
        self.repositories = frozenset(in_sight).intersection(*reached)

    def documents(self) -> Iterator[int]:
        """Every document in reach."""
        for name in self.repositories:
            yield from self._in_repository.get(name, ())

    def narrow(self, documents: set[int]) -> set[int]:
        """The given documents that are in reach."""
        return set().union(*(documents & self._in_repository.get(name, set()) for name in self.repositories))


def _named(alternatives: Sequence[Qualifier], repositories: Sequence[str], login: Callable[[str], str]) -> set[str]:
    """The repositories that at least one of the qualifiers names, by their own name or their owner's."""
    names = {value.lower() for qualifier in alternatives if qualifier.name == "repo" for value in qualifier.values}
    owners = {login(value) for qualifier in alternatives if qualifier.name != "repo" for value in qualifier.values}
    return {name for name in repositories if name in names or name.partition("/")[0] in owners}
