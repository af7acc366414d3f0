"""What every handler is given: the host's settings and the few things that have effects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from bot.conversation.comments import CommentKeeper
from bot.deliveries.events import Event
from bot.domain.entities import RepoRef
from bot.github.client import GitHub
from bot.platform.settings import Settings
from bot.search.index import Index
from bot.search.indexer import Indexer
from bot.search.issue_forms import IssueForms
from bot.search.matching import Matcher
from bot.search.repository_settings import RepositorySettings
from bot.storage import Store, StoredRepository

if TYPE_CHECKING:
    # A host without a judge loads nothing of it.
    from bot.search.judge.judge import HostJudge


class Queue(Protocol):
    """Where work is put that is to be done later: the table that workers draw from, or what one process has to do."""

    def put(self, delivery_id: str, event: Event, delay_seconds: float = 0.0) -> bool: ...

    def erase(self, repository_id: int, before: float | None = None) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Services:
    """Built once a process by `bot.app.wiring.worker_process`; tests build it with a clock of their own.

    `clock` answers the present time in the host's zone, in which times are shown. `arrived` is when the delivery that
    is being handled was accepted, in seconds since 1970 by the queue's clock, and `delivery` its id; None and empty
    where no delivery is. `evaluate` has `doppel evaluate` run for a repository, and says why there is no result.
    `judge` is the host's, if it has one (J).
    """

    settings: Settings
    github: GitHub
    store: Store
    repository_settings: RepositorySettings
    issue_forms: IssueForms
    comments: CommentKeeper
    inbox: Queue
    index: Index
    indexing: Indexer
    matcher: Matcher
    clock: Callable[[], datetime]
    evaluate: Callable[[RepoRef], str]
    judge: HostJudge | None = None
    arrived: float | None = None
    delivery: str = ""

    def now(self) -> float:
        """Seconds since 1970, as the store keeps times."""
        return self.clock().timestamp()

    def installation_of(self, known: StoredRepository) -> int:
        """The installation that covers a repository; GitHub is asked where no event has named it yet.

        Raises NotFound where the App is not installed on it.
        """
        return known.installation or self.github.app().installation_of(known.ref)
