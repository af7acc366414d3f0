"""The index of a replayed repository: it holds at each moment what the bot's own index would have held."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.index import Index, IndexedIssue
from bot.model import Issue
from bot.replay.github import ReplayGitHub

#: From so many issues on batches end where vectors are centred anew, so that a history that is read at once gives the
#: same index as one that comes issue by issue.
_FIRST_BATCH = 512


class Mirror:
    """Follows the arrivals of a `ReplayGitHub` into one repository of an index."""

    def __init__(self, index: Index, repo_id: int) -> None:
        self._index = index
        self._repo_id = repo_id

    def load(self, issues: Sequence[Issue]) -> None:
        """Put in all issues that there are at the beginning, as they are then."""
        start, end = 0, _FIRST_BATCH
        while start < len(issues):
            self.put(issues[start:end])
            start, end = end, 2 * end

    def put(self, issues: Iterable[Issue]) -> None:
        """Put in issues that arrived or were closed."""
        rows = [IndexedIssue.of(issue) for issue in issues]
        if rows:
            self._index.put(self._repo_id, rows)

    def follow(self, github: ReplayGitHub) -> None:
        """Take over what was closed since the last time."""
        self.put(github.take_closed())
