"""The repositories that a query reaches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from bot.simulator.search.errors import unsearchable_scope
from bot.simulator.search.syntax import Qualifier


class View:
    """The visible repositories of a query: those named with `repo:`, `user:` or `org:`, or all if none are named.

    `known` has all full names in lower case, `ids_by_name` their documents. A query reaches a repository only if each
    group of `scopes` has a qualifier that names it. `login` resolves `@me`. Raises QueryError if groups exist, but none
    names a visible repository. Leaves out invisible ones silently (REST "Access errors or missing search results").
    """

    def __init__(
        self,
        known: Iterable[str],
        ids_by_name: Mapping[str, set[int]],
        visible: Callable[[str], bool],
        scopes: Sequence[Sequence[Qualifier]],
        login: Callable[[str], str],
    ) -> None:
        self._ids_by_name = ids_by_name
        in_sight = [name for name in known if visible(name)]
        named_by_group = [_named(alternatives, in_sight, login) for alternatives in scopes]
        if scopes and not any(named_by_group):
            raise unsearchable_scope()
        self.repositories = frozenset(in_sight).intersection(*named_by_group)

    def documents(self) -> Iterator[int]:
        """Every document in reach."""
        for name in self.repositories:
            yield from self._ids_by_name.get(name, ())

    def narrow(self, documents: set[int]) -> set[int]:
        """The given documents that are in reach."""
        return set().union(*(documents & self._ids_by_name.get(name, set()) for name in self.repositories))


def _named(alternatives: Sequence[Qualifier], repositories: Sequence[str], login: Callable[[str], str]) -> set[str]:
    """The repositories that at least one of the qualifiers names, by their own name or their owner's."""
    names = {value.lower() for qualifier in alternatives if qualifier.name == "repo" for value in qualifier.values}
    owners = {login(value) for qualifier in alternatives if qualifier.name != "repo" for value in qualifier.values}
    return {name for name in repositories if name in names or name.partition("/")[0] in owners}
