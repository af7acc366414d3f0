"""GitHub's search as a replay asks it: the simulator's search engine in this process."""

from __future__ import annotations

from bot.errors import Invalid
from bot.model import Issue, RepoRef
from bot.simulator.search import Document, QueryError, Result, SearchIndex


class Engine:
    """The issues of one repository, found by their words."""

    def __init__(self, repo: RepoRef) -> None:
        self._index = SearchIndex()
        self._index.put_repository(str(repo))

    def put(self, issue: Issue) -> None:
        """A search finds this issue from now on, as it is now."""
        self._index.put(
            Document(
                id=issue.id,
                repo=str(issue.repo),
                number=issue.number,
                title=issue.title,
                body=issue.body,
                created_at=issue.created_at,
                updated_at=issue.updated_at,
                state=issue.state,
                state_reason=issue.state_reason,
                author=issue.author.login,
                labels=issue.labels,
                closed_at=issue.closed_at,
            )
        )

    def search(self, query: str, *, hybrid: bool, per_page: int) -> Result:
        """The first page of what a query finds. Raises Invalid where GitHub would refuse the query."""
        try:
            return self._index.search(query, per_page=per_page, search_type="hybrid" if hybrid else None)
        except QueryError as refused:
            raise Invalid("search issues", 422, str(refused)) from None
