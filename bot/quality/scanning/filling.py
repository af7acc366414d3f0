"""Reads a repository's issues into the index from the command line, in the steps that the bot's queue takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bot.deliveries.events import Event, IndexEvent
from bot.domain.entities import Repository
from bot.github.repository import RepoClient
from bot.search.indexer import Indexer
from bot.search.issue_forms import IssueForms
from bot.storage.repositories import Backfills, Progress

# The first step of a chain leaves alone what another seems to be at; a reading that was stopped here looks like that.
_GOING_ON = 1


class OwnSteps:
    """Stands in for the bot's queue and holds the next step.

    `completed` is called when everything was read for the first time.
    """

    def __init__(self, completed: Callable[[IndexEvent], Any] = lambda event: None) -> None:
        self._completed = completed
        self._next: tuple[Event, float] | None = None

    def put(self, delivery_id: str, event: Event, delay_seconds: float = 0.0) -> bool:
        """Note the next step and when it is due."""
        if isinstance(event, IndexEvent) and event.completed:
            self._completed(event)
        else:
            self._next = (event, delay_seconds)
        return True

    def take(self) -> tuple[Event, float] | None:
        """The next step, and the seconds to wait before it; None if there is nothing more to do."""
        following, self._next = self._next, None
        return following


def fill(
    indexing: Indexer,
    steps: OwnSteps,
    forms: IssueForms,
    progress: Backfills,
    github: RepoClient,
    repository: Repository,
    *,
    chain: str,
    sleep: Callable[[float], Any],
    tell: Callable[[Progress], Any],
) -> Progress | None:
    """Read until everything is there, or nothing more can be read now, and return how far that came.

    Nothing is read twice. `indexing` queues into `steps`, `tell` is called after each step, and `sleep` waits between
    them, to leave some of GitHub's limits to others. Raises what reading from GitHub raises.
    """
    forms.refresh(github, repository)
    steps.put("", IndexEvent(None, repository, chain, _GOING_ON))
    while (following := steps.take()) is not None:
        event, wait = following
        assert isinstance(event, IndexEvent)
        sleep(wait)
        indexing.step(event, repository, github)
        reached = progress.get(repository.id)
        if reached is None:
            # The repository was erased meanwhile.
            break
        tell(reached)
        if reached.problem and not reached.done:
            # The bot would wait for minutes, but somebody at a terminal wants to know now.
            break
    return progress.get(repository.id)
