"""A scan of one repository: what is still to be asked, and the groups that come of the answers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from bot.counted import counted
from bot.errors import GitHubError, Retryable
from bot.feedback.reading import decided_in
from bot.scanning.answers import Answers, count_entries, entries, put_reactions
from bot.scanning.asking import Asker
from bot.scanning.groups import THRESHOLD, grouped
from bot.scanning.model import Answer, Result
from bot.store import Store
from bot.store.database.engine import write

log = logging.getLogger(__name__)

AGAIN = 100
"""Issues that are asked about once more at the end of a scan, some seconds' work."""

ReadReactions = Callable[[Sequence[int]], Mapping[int, tuple[int, int]]]
"""How many 👍 and 👎 issues have, by number, as GitHub says now; issues may be left out."""


class Scan:
    """One repository's. Asking can be stopped at any time: answers are kept, and what has one is not asked again."""

    def __init__(self, store: Store, asker: Asker, repo_id: int, *, closed: bool = False) -> None:
        self._store = store
        self._answers = Answers(store.engine)
        self._asker = asker
        self._repo_id = repo_id
        self._closed = closed

    def begin(self, *, fresh: bool = False) -> None:
        """Forget answers that no longer hold because of another issue's change; all of them, if it must be `fresh`."""
        if fresh:
            self._answers.forget(self._repo_id)
        else:
            self._answers.drop_outdated(self._repo_id)

    def missing(self, after: int = 0, limit: int | None = None) -> list[int]:
        """The issues above `after` that are still to be asked about."""
        version = self._asker.version(self._repo_id)
        return self._answers.missing(self._repo_id, version, closed=self._closed, after=after, limit=limit)

    def ask_again(self) -> None:
        """Ask about issues whose answers hold no longer, since some were changed after it was their turn.

        Once, and no more than AGAIN: a scan has to end. Of others it shows what was found, which the next one asks
        again: vectors can have come for all of them meanwhile.
        """
        changed = {*self._answers.outdated(self._repo_id), *self.missing(limit=AGAIN)}
        self.ask(sorted(changed)[:AGAIN])

    def count(self) -> int:
        """How many issues are looked through."""
        with self._store.engine.connect() as connection:
            return count_entries(connection, self._repo_id, closed=self._closed)

    def ask(self, numbers: Sequence[int]) -> None:
        """Ask about some issues, and keep the answers."""
        self.keep(self._asker.ask(self._repo_id, numbers))

    def keep(self, answers: Sequence[Answer]) -> None:
        """Keep what another process was answered."""
        self._answers.put(self._repo_id, answers)

    def count_reactions(self, read: ReadReactions, threshold: float = THRESHOLD) -> None:
        """Bring up to date how many 👍 and 👎 the issues of the groups have.

        Which issues are in a group does not depend on them; how the groups are ordered does. The index knows only those
        that were given before an issue was changed last, since a reaction is no change to GitHub. Where they cannot be
        read, these count.
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
            with write(self._store.engine) as connection:
                put_reactions(connection, self._repo_id, given)

    def result(self, threshold: float = THRESHOLD) -> Result:
        """The groups by the answers that there are."""
        with self._store.engine.connect() as connection:
            backlog = list(entries(connection, self._repo_id, closed=self._closed))
        groups = grouped(
            backlog,
            self._answers.all(self._repo_id),
            threshold=threshold,
            decided=decided_in(self._store, self._repo_id),
        )
        return Result(tuple(groups), len(backlog), self._closed, threshold)
