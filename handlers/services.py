"""The services that every handler receives: the host's settings, and all objects with effects."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from bot.conversation.comments import CommentWriter
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
    # Only a host that has a judge loads the judge's modules.
    from bot.search.judge.judge import HostJudge


class Queue(Protocol):
    """A queue of jobs: `Inbox`, which documents the methods, or `MemoryQueue` for one command or workflow run."""

    def put(self, delivery_id: str, event: Event, delay_seconds: float = 0.0) -> bool: ...

    def running(self, partitions: Collection[str]) -> set[str]: ...

    def erase(self, repository_id: int, before: float | None = None) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Services:
    """Built once in each process, by `bot.app.wiring.worker_process` or `bot.app.action.workflow`.

    `clock` is in the host's zone. Each handler gets a copy with values of its delivery: `delivery` is the id, `arrived`
    the time of arrival by the queue's clock (seconds since 1970). `evaluate` runs `doppel evaluate` for a repository,
    and returns the problem, or "". `judge` is the host's judge, if any (J).
    """

    settings: Settings
    github: GitHub
    store: Store
    repository_settings: RepositorySettings
    issue_forms: IssueForms
    comments: CommentWriter
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
        """The id of a repository's installation. Asks GitHub if the store has none.

        Raises NotFound if the App is not installed on it.
        """
        return known.installation or self.github.app().installation_of(known.ref)
