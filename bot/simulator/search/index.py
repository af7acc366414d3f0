"""The search engine: stores documents, and answers queries like GitHub's `GET /search/issues`.

The engine is deterministic: no clock, no I/O, no randomness. It takes no locks: callers with threads must take one.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable
from typing import Final

from bot.simulator.search import errors
from bot.simulator.search.analysis import Vocabulary
from bot.simulator.search.document import Document, RepositoryFacts, Result, SearchType
from bot.simulator.search.inverted import FieldIndex
from bot.simulator.search.parser import parse
from bot.simulator.search.qualifiers import NAMES, Surroundings
from bot.simulator.search.searching import Search
from bot.simulator.search.semantic import Outage, fallback_reasons
from bot.simulator.search.sorting import ordering
from bot.simulator.search.view import View

REACHABLE: Final = 1_000
MOST_PER_PAGE: Final = 100
DEFAULT_PER_PAGE: Final = 30
_TEXTS: Final[dict[str, Callable[[Document], tuple[str, ...]]]] = {
    "title": lambda document: (document.title,),
    "body": lambda document: (document.body,),
    "comments": lambda document: document.comments,
}


def everything(name: str) -> bool:
    """The default of `search`'s `visible` and `user_exists`: every repository is visible, and every user exists."""
    return True


class SearchIndex:
    """An index over the issues and pull requests of any number of repositories."""

    def __init__(self) -> None:
        self._vocabulary = Vocabulary()
        self._fields = {name: FieldIndex(self._vocabulary) for name in _TEXTS}
        self._documents: dict[int, Document] = {}
        self._repositories: dict[str, RepositoryFacts] = {}
        # Full name in lower case → ids of documents.
        self._in_repository: defaultdict[str, set[int]] = defaultdict(set)

    def __len__(self) -> int:
        return len(self._documents)

    def put_repository(self, full_name: str, *, private: bool = False, archived: bool = False) -> None:
        """Add a repository or change its properties. Adding a document also adds its repository."""
        self._repositories[full_name.lower()] = RepositoryFacts(private, archived)

    def put(self, doc: Document) -> None:
        """Add a document, or replace the document with the same id. Only fields with new text are indexed again."""
        old = self._documents.get(doc.id)
        for name, texts in _TEXTS.items():
            if old is None:
                self._fields[name].put(doc.id, texts(doc))
            elif texts(old) != texts(doc):
                self._fields[name].remove(doc.id)
                self._fields[name].put(doc.id, texts(doc))
        if old is not None:
            self._in_repository[old.repo.lower()].discard(doc.id)
        self._documents[doc.id] = doc
        self._in_repository[doc.repo.lower()].add(doc.id)
        self._repositories.setdefault(doc.repo.lower(), RepositoryFacts())

    def remove(self, id: int) -> None:
        """Remove a document, if there is one with that id."""
        doc = self._documents.pop(id, None)
        if doc is None:
            return
        for field in self._fields.values():
            field.remove(id)
        self._in_repository[doc.repo.lower()].discard(id)

    def search(
        self,
        q: str,
        *,
        page: int = 1,
        per_page: int = DEFAULT_PER_PAGE,
        sort: str | None = None,
        order: str = "desc",
        search_type: str | None = None,
        visible: Callable[[str], bool] = everything,
        user_exists: Callable[[str], bool] = everything,
        viewer: str = "",
        require_kind: bool = True,
        outage: Outage | None = None,
    ) -> Result:
        """Answer a query. Raises QueryError if GitHub would answer 422.

        `visible` gets a repository's full name and `user_exists` a login, each in lower case. `@me` means `viewer`.
        `require_kind` refuses a query without `is:issue` or `is:pull-request`, as REST does for Apps (GraphQL does
        not). With an `outage`, semantic and hybrid searches fall back to lexical ones, as if GitHub's embeddings were
        out of order. `per_page` is at most 100; nonsense in `per_page` or `page` is corrected.
        """
        query = parse(q, NAMES)
        if require_kind and not query.kinds:
            raise errors.untyped()
        per_page = min(per_page, MOST_PER_PAGE) if per_page > 0 else DEFAULT_PER_PAGE
        first = (max(page, 1) - 1) * per_page
        if first >= REACHABLE:
            raise errors.beyond_reach()
        surroundings = Surroundings(viewer, user_exists, self._facts)
        view = View(self._repositories, self._in_repository, visible, query.scopes, surroundings.login)
        search = Search(self._vocabulary, self._fields, self._documents, query, view, surroundings)

        wanted = search_type if search_type in ("semantic", "hybrid") else None
        reasons = fallback_reasons(query, anything_visible=bool(view.repositories), outage=outage) if wanted else ()
        if wanted and not reasons:
            used_type: SearchType = "hybrid" if wanted == "hybrid" else "semantic"
            scores = search.similar(with_exact=used_type == "hybrid")
            sorting = None
        else:
            used_type = "lexical"
            sorting = ordering(sort, order, query.sort)
            scores = search.lexical(ranked=sorting is None)
        end = min(first + per_page, REACHABLE)
        if sorting is None:
            top = heapq.nsmallest(end, scores, key=lambda doc_id: (-scores[doc_id], -doc_id))
        else:
            value_of, descending = sorting
            pick = heapq.nlargest if descending else heapq.nsmallest
            top = pick(end, scores, key=lambda doc_id: (value_of(self._documents[doc_id]), doc_id))
        ids = top[first:end]
        return Result(len(scores), ids, [scores[doc_id] for doc_id in ids], used_type, reasons)

    def _facts(self, full_name: str) -> RepositoryFacts:
        return self._repositories.get(full_name.lower(), RepositoryFacts())
