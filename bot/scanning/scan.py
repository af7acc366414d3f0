"""A scan of one repository: which issues still have to be asked about, and the groups that the answers make."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from bot.counted import counted
from bot.errors import GitHubError, Retryable
from bot.feedback.reading import decided_in
from bot.scanning.answers import Answers
from bot.scanning.asking import Asker
from bot.scanning.groups import THRESHOLD, grouped
from bot.scanning.model import Answer, Result
from bot.store import Store

log = logging.getLogger(__name__)

AGAIN = 100
"""Issues that are asked about once more at the end of a scan, some seconds' work."""

ReadReactions = Callable[[Sequence[int]], Mapping[int, tuple[int, int]]]
"""How many 👍 and 👎 issues have, by number, as GitHub says now; issues may be left out."""


class Scan:
    """A scan can be stopped at any time: answers are stored, and issues that have one are not asked about again."""

    def __init__(self, store: Store, asker: Asker, repo_id: int, *, closed: bool = False) -> None:
        self._store = store
        self._answers = Answers(store.engine)
        self._asker = asker
        self._repo_id = repo_id
        self._closed = closed

    def begin(self, *, fresh: bool = False) -> None:
        """Delete the answers that another issue's change has made outdated; with `fresh`, all answers."""
        if fresh:
            self._answers.forget(self._repo_id)
        else:
            self._answers.drop_outdated(self._repo_id)

    def missing(self, after: int = 0, limit: int | None = None) -> list[int]:
        """The issues above `after` that still have to be asked about."""
        version = self._asker.version(self._repo_id)
        return self._answers.missing(self._repo_id, version, closed=self._closed, after=after, limit=limit)

    def ask_again(self) -> None:
        """Ask once more about issues whose answers have become outdated during the scan.

        Only once, and at most AGAIN issues, because a scan has to end: vectors may have come for all of them. The other
        outdated answers are used as they are, and the next scan asks again.
        """
        changed = {*self._answers.outdated(self._repo_id), *self.missing(limit=AGAIN)}
        self.ask(sorted(changed)[:AGAIN])

    def count(self) -> int:
        """How many issues there are to look through."""
        return self._answers.count_entries(self._repo_id, closed=self._closed)

    def ask(self, numbers: Sequence[int]) -> None:
        """Ask about some issues, and store the answers."""
        self.keep(self._asker.ask(self._repo_id, numbers))

    def keep(self, answers: Sequence[Answer]) -> None:
        """Store the answers that another process got."""
        self._answers.put(self._repo_id, answers)

    def count_reactions(self, read: ReadReactions, threshold: float = THRESHOLD) -> None:
        """Update how many 👍 and 👎 the issues of the groups have; the order of the groups depends on it.

        The index knows reactions only up to an issue's last change, since GitHub does not count a reaction as one. If
        they cannot be read, those in the index count.
        """
        groups = self.result(threshold).groups
        numbers = [
            entry.number for group in groups for entry in (group.original, *(one.entry for one in group.members))
        ]
        if numbers:
            try:
                given = read(numbers)
            except (GitHubError, Retryable) as failure:
                issues = counted(len(numbers), "issue")
                log.warning("the reactions to %s could not be counted anew: %s", issues, failure)
                return
            self._answers.put_reactions(self._repo_id, given)

    def result(self, threshold: float = THRESHOLD) -> Result:
        """The groups, by the answers that are stored."""
        backlog = self._answers.entries(self._repo_id, closed=self._closed)
        groups = grouped(
            backlog,
            self._answers.all(self._repo_id),
            threshold=threshold,
            decided=decided_in(self._store, self._repo_id),
        )
        return Result(tuple(groups), len(backlog), self._closed, threshold)
