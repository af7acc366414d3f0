"""What one installation can do: the client that finder and handlers are given, and its view for one issue thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from bot.calls import Call, ToolCallTracker, equal
from bot.github import changes, duplicates, search, votes, workflow
from bot.github import history as past
from bot.github.api import PAGE, Api
from bot.github.changes import ChangesPage
from bot.github.discussions import FoundDiscussions, search_discussions
from bot.github.history import HistoryPage
from bot.github.reactions import reactions
from bot.github.search import SearchPage
from bot.github.votes import VotesPage
from bot.github.workflow import WorkflowStates
from bot.github.writes import Writes
from bot.model import Issue, IssueRef, RepoRef

R = TypeVar("R")

_REMEMBERED = ("search", "discussions", "workflow_states", "recent_issues", "labels", "file", "directory")


class RepoClient(Writes):
    """Everything that the bot asks of GitHub and does there as one installation. Thread safe."""

    def __init__(self, api: Api, tracker: ToolCallTracker) -> None:
        super().__init__(api)
        self._tracker = tracker
        for name in _REMEMBERED:
            # T5: the rule for tools that nobody described would take two issues of a repository for one.
            tracker.add_rule(f"github.{name}", equal)

    def search(self, query: str, *, hybrid: bool = False, per_page: int = PAGE) -> SearchPage:
        """One search request: lexical (30 a minute) or hybrid (10 a minute). Raises Invalid for a refused query.

        A search for a repository by a name that it no longer has is refused: searches do not follow renames.
        """
        return search.search(self._api, query, hybrid=hybrid, per_page=per_page)

    def discussions(self, repo: RepoRef, texts: Sequence[str]) -> FoundDiscussions:
        """The repository's discussions with all neutral words of a text, for each; if they must not be read, why."""
        return search_discussions(self._api, repo, texts)

    def workflow_states(self, repo: RepoRef, numbers: Sequence[int], field: str | None = None) -> WorkflowStates:
        """The workflow states of issues, in one request (F7); where there are none a reason, never an error."""
        return workflow.workflow_states(self._api, repo, numbers, field)

    def duplicate_of(self, repo: RepoRef, number: int) -> IssueRef | None:
        """The issue that this one is closed as a duplicate of, None where there is none that we can see."""
        return duplicates.duplicate_of(self._api, repo, number)

    def originals(self, repo: RepoRef, numbers: Sequence[int]) -> Mapping[int, int | None]:
        """Of which issues of the same repository these are duplicates, as far as GitHub knows (GraphQL)."""
        return duplicates.originals(self._api, repo, numbers)

    def changed_issues(
        self, repo: RepoRef, *, since: str = "", after: str = "", page: int = 1, etag: str = ""
    ) -> ChangesPage:
        """A page of the issues that were changed since then, those changed longest ago first; `changes` says more."""
        return changes.changed_issues(self._api, repo, since=since, after=after, page=page, etag=etag)

    def count_issues(self, repo: RepoRef, repo_id: int = 0) -> int | None:
        """How many issues the repository has, without pull requests; None where that cannot be known.

        With `repo_id` it raises NotFound where the name is another repository's by now.
        """
        return changes.count_issues(self._api, repo, repo_id)

    def history(self, repo: RepoRef, since: str = "", after: str = "", *, texts: bool = True) -> Iterator[HistoryPage]:
        """The issues that were changed since then with what was said of duplicates; `history` says more (GraphQL)."""
        return past.history(self._api, repo, since, after, texts=texts)

    def missing_issues(self, repo: RepoRef, numbers: Sequence[int], repo_id: int = 0) -> set[int]:
        """Those of the numbers under which there is no issue any more: it was deleted, or moved elsewhere.

        `repo_id` as for `count_issues`.
        """
        return changes.missing_issues(self._api, repo, numbers, repo_id)

    def reactions(self, repo: RepoRef, numbers: Sequence[int]) -> Mapping[int, tuple[int, int]]:
        """How many 👍 and 👎 each of these issues has now (GraphQL); those that are not there are left out."""
        return reactions(self._api, repo, numbers)

    def votes(self, node_ids: Sequence[str]) -> VotesPage:
        """The 👍 and 👎 on comments, by their GraphQL ids, and whether they are folded; `votes` says more."""
        return votes.votes(self._api, node_ids)

    def fold(self, node_id: str) -> None:
        """Fold a comment, as outdated: people see one line of it until they open it."""
        votes.fold(self._api, node_id)

    def unfold(self, node_id: str) -> None:
        """Show a folded comment again."""
        votes.unfold(self._api, node_id)

    def thread(self, key: str, *, fresh: bool = False) -> ThreadClient:
        """This client for the work on one issue (`OWNER/REPO#N`): what it read in the last minutes it remembers (T5).

        `fresh` asks GitHub anew, and remembers that.
        """
        return ThreadClient(self._api, self._tracker, key, fresh=fresh)

    def forget_thread(self, key: str) -> None:
        """Forget what was read for a thread: something was changed since, of which it tells."""
        self._tracker.clear_session(key)


class ThreadClient(RepoClient):
    """A RepoClient that answers repeated reads from memory: searches, workflow states, files, labels, lists of issues.

    What the bot is about to act upon is always read anew: issues, comments, permissions, the repository.
    Writes are never remembered. What failed, or came incomplete, is asked again.
    """

    def __init__(self, api: Api, tracker: ToolCallTracker, key: str, *, fresh: bool) -> None:
        super().__init__(api, tracker)
        self._key = key
        self._fresh = fresh

    def search(self, query: str, *, hybrid: bool = False, per_page: int = PAGE) -> SearchPage:
        """See RepoClient; `SearchPage.cached_at` says when a remembered page was fetched."""
        ask = partial(super().search, query, hybrid=hybrid, per_page=per_page)
        arguments = {"query": query, "hybrid": hybrid, "per_page": per_page}
        answer = self._remembered("search", arguments, ask, keep=lambda page: not page.incomplete)
        return replace(answer.result, cached_at=answer.at) if answer.cached else answer.result

    def discussions(self, repo: RepoRef, texts: Sequence[str]) -> FoundDiscussions:
        """See RepoClient; `FoundDiscussions.cached_at` says when a remembered answer was fetched."""
        ask = partial(super().discussions, repo, texts)
        arguments = {"repo": repo, "texts": tuple(texts)}
        answer = self._remembered("discussions", arguments, ask, keep=lambda found: not found.reason)
        return replace(answer.result, cached_at=answer.at) if answer.cached else answer.result

    def workflow_states(self, repo: RepoRef, numbers: Sequence[int], field: str | None = None) -> WorkflowStates:
        """See RepoClient."""
        ask = partial(super().workflow_states, repo, numbers, field)
        arguments = {"repo": repo, "numbers": tuple(numbers), "field": field}
        return self._remembered("workflow_states", arguments, ask, keep=lambda answer: not answer.reason).result

    def recent_issues(self, repo: RepoRef, limit: int) -> list[Issue]:
        """See RepoClient."""
        ask = partial(super().recent_issues, repo, limit)
        return list(self._remembered("recent_issues", {"repo": repo, "limit": limit}, ask).result)

    def labels(self, repo: RepoRef) -> frozenset[str]:
        """See RepoClient."""
        return self._remembered("labels", {"repo": repo}, partial(super().labels, repo)).result

    def file(self, repo: RepoRef, path: str) -> str | None:
        """See RepoClient."""
        return self._remembered("file", {"repo": repo, "path": path}, partial(super().file, repo, path)).result

    def directory(self, repo: RepoRef, path: str) -> list[str]:
        """See RepoClient."""
        ask = partial(super().directory, repo, path)
        return list(self._remembered("directory", {"repo": repo, "path": path}, ask).result)

    def _remembered(
        self,
        name: str,
        arguments: Mapping[str, Any],
        ask: Callable[[], R],
        keep: Callable[[R], bool] | None = None,
    ) -> Call[R]:
        return self._tracker.call(self._key, f"github.{name}", arguments, ask, fresh=self._fresh, keep=keep)
