"""A search engine that answers as GitHub's issue search does (`GET /search/issues`), in memory.

    index = SearchIndex()
    index.put(Document(id=1, repo="acme/app", …))
    index.search('repo:acme/app is:issue in:title "cannot connect"')

Where GitHub's documentation leaves a question open, a docstring or comment says how we decided. An `int` in place
of a document is the document's id.
"""

from __future__ import annotations

from bot.simulator.search.document import Document, Result
from bot.simulator.search.errors import QueryError
from bot.simulator.search.index import SearchIndex

__all__ = ["Document", "QueryError", "Result", "SearchIndex"]
