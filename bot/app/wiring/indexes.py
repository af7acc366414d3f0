"""Builds this host's index and the objects that use it, and fills the index for the command line."""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from bot.app.wiring.clients import build_github, build_judge, embedder, now, reader
from bot.conversation.config.schema import RepoConfig
from bot.deliveries.database import QueueUnavailable
from bot.deliveries.events import BACKGROUND, Event, IndexEvent, InstallationEvent
from bot.deliveries.inbox import Inbox
from bot.domain.entities import Issue, RepoRef, Repository
from bot.domain.errors import UserError
from bot.github.repository import RepoClient
from bot.platform.call_tracker import get_tool_call_tracker
from bot.platform.settings import Settings
from bot.quality.calibration import Threshold, threshold_in_force
from bot.quality.known_repository import KnownRepository
from bot.quality.scanning.scan import BacklogMatcher, MatchMany, Scan, match_in_processes
from bot.search.embedding.local_models import TextModel
from bot.search.finder import Finder, TemporaryIndexes, finder_settings, further_sources
from bot.search.finder.scoring import Judge
from bot.search.index import Index, TextAnalyser
from bot.search.indexer import Indexer, StoredRepositoryInfo
from bot.search.issue_forms import IssueForms
from bot.search.matching import Matcher, Model, shipped_model
from bot.search.repository_settings import RepositorySettings, last_read, settings_at_present
from bot.storage import Store, open_store
from bot.storage.replaced import sqlite_file
from bot.storage.repositories import Progress
from handlers.repositories import erased_if_ended

if TYPE_CHECKING:
    from bot.interfaces.mcp.tools import Tools

FIRST_STEP = 1
"""The number of the first step in a chain of IndexEvents that a command or workflow starts. At step 0, `Indexer.step`
ends a chain if an unfinished backfill was updated in the last two hours (`LOST`): its own chain may be under way."""


@dataclass(frozen=True, slots=True)
class QueuedEvent:
    event: Event
    delay: float  # in seconds


class MemoryQueue:
    """A `handlers.services.Queue` for one command or workflow run. Background steps come last."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._events: deque[QueuedEvent] = deque()
        self._background: deque[QueuedEvent] = deque()

    def put(self, delivery_id: str, event: Event, delay_seconds: float = 0.0) -> bool:
        """Add an event; return False if its delivery id is known."""
        if delivery_id in self._known:
            return False
        self._known.add(delivery_id)
        background = event.partition.startswith(BACKGROUND)
        (self._background if background else self._events).append(QueuedEvent(event, delay_seconds))
        return True

    def running(self, partitions: Collection[str]) -> set[str]:
        """Return all `partitions`, as if each had a running job: another workflow run may have a job there."""
        return set(partitions)

    def erase(self, repository_id: int, before: float | None = None) -> None:
        """Drop all of a repository's events. `before` is ignored: it spares later deliveries, but none arrive here."""
        for queue in (self._events, self._background):
            for queued in list(queue):
                if not isinstance(queued.event, InstallationEvent) and queued.event.repository.id == repository_id:
                    queue.remove(queued)

    def close(self) -> None:
        """Nothing needs closing."""

    def take(self, *, background: bool) -> QueuedEvent | None:
        """Take the next event. With `background`, take a background step if no event is left. Else return None."""
        if self._events:
            return self._events.popleft()
        return self._background.popleft() if background and self._background else None


logger = logging.getLogger(__name__)


def build_index(settings: Settings, store: Store) -> Index:
    model = embedder(settings)
    info = StoredRepositoryInfo(
        store,
        RepositorySettings(store, now),
        IssueForms(store, now),
        remote=model is not None and model.remote,
        private_too=settings.remote_text == "all",
    )
    return Index(store.engine, TextAnalyser(), model, info, text_model=TextModel() if settings.text_model else None)


def build_backlog_matcher(settings: Settings, weights: str = "", store: Store | None = None) -> BacklogMatcher:
    """The matcher of a backlog scan. `weights` replace the shipped model's; without `store`, opens the host's store."""
    model = Model.parse(weights) if weights else shipped_model()
    return BacklogMatcher(build_index(settings, store or open_store(settings)), model)


@contextmanager
def known_repository(
    settings: Settings, client: RepoClient, target: Issue, *, issues: int | None = None, judge: bool = False
) -> Iterator[KnownRepository]:
    """The repository of `target`, with a finder for that issue; `client` must be able to read the repository.

    `issues` is the repository's number of issues, for a host that has not counted them. Creates no database, and stores
    only the judge's calls and answers. With `judge`, raises UserError if the judge cannot be asked.
    """
    # Look up GitHub's id: the name may have belonged to another repository when the index was filled.
    summary = client.repository(target.repo)
    repo_id = summary.id
    loaded = settings_at_present(client, target.repo, settings.mode)
    with existing_store(settings) as store:
        progress = (store.backfills.get(repo_id) if store else None) or Progress()
        # Use the issue forms as the bot last read them. A new read would store forms, which is not allowed here.
        headings = IssueForms(store, now).last_headings(repo_id) if store else ()
        complete = progress.done
        index = build_index(settings, store) if store else None
        is_known = store is not None and store.repositories.get(repo_id) is not None
        chosen_judge = required_judge(settings, store, summary, loaded.config, keep=is_known) if judge else None
        finder = Finder(
            client,
            issues=issues if progress.size is None else progress.size,
            settings=finder_settings(loaded.config, headings=headings, workflow_field=settings.workflow_field),
            matcher=Matcher(index) if index and complete else None,
            temporary=TemporaryIndexes(index, embedder(settings)),
            repo_id=repo_id,
            further=further_sources(loaded.config, client, settings.siblings),
            judge=chosen_judge,
        )
        yield KnownRepository(repo_id, loaded, finder, complete, store)


def required_judge(
    settings: Settings, store: Store | None, repository: Repository, config: RepoConfig, *, keep: bool = False
) -> Judge:
    """The judge of a repository; `store` and `keep` as for `build_judge`. Raises UserError if it may not be asked."""
    built = build_judge(settings, store, keep=keep)
    if built is None:
        raise UserError("judge: no model is named here; the host sets DOPPEL_JUDGE_URL and DOPPEL_JUDGE_MODEL")
    judge = built.of(repository.id, config.judge, private=repository.private)
    if judge is None and not config.judge.enabled:
        raise UserError(f"judge: the settings of {repository.ref} say judge: off")
    if judge is None:
        raise UserError(
            f"judge: {repository.ref} is private; its texts go to the judge only where DOPPEL_REMOTE_TEXT is all and "
            "its settings say judge: {private: on}"
        )
    return judge


@contextmanager
def open_scan(settings: Settings, repo_id: int, include_closed: bool) -> Iterator[tuple[Scan, MatchMany, float] | None]:
    """A backlog's scan, the function that finds matches, and the setting `likely`; None without a complete index."""
    with existing_store(settings) as store:
        if store is None or not store.backfills.complete(repo_id):
            yield None
        else:
            make_matcher = partial(build_backlog_matcher, settings)
            match = partial(match_in_processes, make_matcher, repo_id, processes=os.cpu_count() or 1)
            # If access to the repository ends meanwhile, the end of this block erases what the scan has stored.
            with erased_if_ended(repo_id, store):
                likely = RepositorySettings(store, now).last_read(repo_id).likely
                matcher = build_backlog_matcher(settings, store=store)
                yield Scan(store, matcher, repo_id, closed=include_closed), match, likely


def known_threshold(settings: Settings, repo: RepoRef) -> Threshold | None:
    """The threshold in force in a repository; None if this host's store does not know the repository."""
    with existing_store(settings) as store:
        known = store.repositories.by_name(repo) if store else None
        return stored_threshold(store, known.id) if store and known else None


def stored_threshold(store: Store, repo_id: int) -> Threshold:
    """The threshold in force in a repository, by its settings as the bot last read them."""
    return threshold_in_force(last_read(store, repo_id), store.calibrations.get(repo_id))


def fill_index(
    settings: Settings, store: Store, repo: RepoRef, sleep: Callable[[float], None], tell: Callable[[Progress], None]
) -> tuple[Repository, Progress | None]:
    """For the command line: read a repository's issues into a store's index, until nothing more can be read now.

    Goes on where an earlier call ended. Calls `tell` after each step, and `sleep` between steps, to leave part of
    GitHub's rate limit to other programs.
    """
    github, steps = build_github(settings), MemoryQueue()
    with closing(github):
        client = reader(settings, github, repo)
        summary = client.repository(repo)
        store.repositories.upsert(summary, None, now().timestamp())
        indexing = Indexer(build_index(settings, store), store, steps, now)
        with erased_if_ended(summary.id, store):
            IssueForms(store, now).refresh(client, summary)
            # Give each chain a new name. `_hand_over` puts the event with `completed` into the host's queue. If an
            # earlier chain had the same name, the event would have a known id, and the queue would drop the event.
            first = IndexEvent(None, summary, f"by-hand-{now().timestamp():.3f}", FIRST_STEP)
            steps.put(first.delivery_id, first)
            while (following := steps.take(background=True)) is not None:
                event = following.event
                assert isinstance(event, IndexEvent)
                if event.completed:
                    _hand_over(settings, store, event)
                    continue
                sleep(following.delay)
                indexing.step(event, summary, client)
                reached = store.backfills.get(summary.id)
                if reached is None:
                    # The repository was erased meanwhile.
                    break
                tell(reached)
                if reached.problem and not reached.done:
                    # The bot would wait for minutes, but somebody at a terminal wants to know now.
                    break
        return summary, store.backfills.get(summary.id)


def _hand_over(settings: Settings, store: Store, event: IndexEvent) -> None:
    """Have this host's bot recheck recent issues that have no candidate. If the queue is unavailable, only log that."""
    known = store.repositories.get(event.repository.id)
    if known is None or known.installation is None:
        return
    with closing(Inbox(settings)) as inbox:
        try:
            inbox.put(event.delivery_id, replace(event, installation=known.installation))
        except QueueUnavailable as problem:
            logger.warning("%s: cannot recheck issues that had no match: %s", known.ref, problem)


def present_reactions(settings: Settings, repo: RepoRef, numbers: Sequence[int]) -> Mapping[int, tuple[int, int]]:
    """The current counts of 👍 and 👎 on issues, by issue number, for the command line."""
    with closing(build_github(settings)) as github:
        return reader(settings, github, repo).reactions(repo, numbers)


@contextmanager
def existing_store(settings: Settings) -> Iterator[Store | None]:
    """The store; None if this host has none yet."""
    file = sqlite_file(settings.database_url)
    if file is not None and not file.exists():
        yield None
        return
    with closing(open_store(settings)) as store:
        yield store


def agent_tools(settings: Settings) -> Tools:
    """The tools that `doppel mcp` serves, for repositories that `reader` can read."""
    from bot.interfaces.mcp.tools import Tools

    github = build_github(settings)
    return Tools(
        partial(reader, settings, github),
        open_known=partial(known_repository, settings),
        open_scan=partial(open_scan, settings),
        tracker=get_tool_call_tracker(),
        clock=now,
        default=RepoRef.parse(settings.default_repository) if settings.default_repository else None,
    )
