"""Entering a place: what every handler of issues and comments must know before it does anything there."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial, wraps

from bot.conversation.config import RepoConfig
from bot.conversation.posts.marker import ADVICE
from bot.conversation.posts.record import Slot
from bot.conversation.render import Place
from bot.conversation.words import Words, language_of, speak
from bot.deliveries.events import CommentEvent, IssueEvent
from bot.domain.decisions import Decision
from bot.domain.entities import Issue, RepoRef, Repository
from bot.github.repository import RepoClient, ThreadClient
from bot.quality.calibration import Threshold, threshold_in_force
from bot.search.repository_settings import Loaded
from bot.storage import KeptComment
from handlers.erasing import take_over
from handlers.services import Services

logger = logging.getLogger(__name__)

LOCKED = "it is locked"
"""Why an issue that changed by itself was left alone, where it will be looked at as soon as it is unlocked."""


@dataclass(frozen=True)
class Visit:
    """One issue, with the client of its installation and the settings of its repository."""

    services: Services
    github: RepoClient
    repository: Repository
    number: int
    settings: Loaded

    @property
    def repo(self) -> RepoRef:
        """The repository by name, for GitHub."""
        return self.repository.ref

    @property
    def config(self) -> RepoConfig:
        """The settings in force."""
        return self.settings.config

    @cached_property
    def threshold(self) -> Threshold:
        """How sure the bot must be here to speak of its own accord; the same for all that is said in one visit."""
        return threshold_in_force(self.config, self.services.store.calibrations.get(self.repository.id))

    @cached_property
    def own_issues(self) -> set[int]:
        """The numbers of the issues that the bot itself keeps here, which it never looks at nor names."""
        return self.services.store.own_issues(self.repository.id)

    @property
    def place(self) -> Place:
        """Where comments are written, for rendering."""
        return Place(str(self.repo), self.services.settings.enterprise)

    @property
    def slot(self) -> Slot:
        """Where the advisory comment is kept."""
        return Slot(self.repository.id, self.repo, self.number, ADVICE.begins)

    def kept_comment(self) -> KeptComment | None:
        """The advisory comment as last written; None where the question never came up."""
        return self.services.store.comments.get(self.repository.id, self.number)

    @property
    def muted(self) -> bool:
        """Whether people have said to leave the issue alone."""
        return self.services.store.muted.is_muted(self.repository.id, self.number)

    def decisions(self) -> list[Decision]:
        """What every look at this issue came to, the earliest first."""
        return self.services.store.decisions.of_issue(self.repository.id, self.number)

    def words(self, issue: Issue) -> Words:
        """What is said on an issue: in the language of the settings or else in its own, with the repository's texts."""
        config = self.config
        language = language_of(issue.title, issue.body) if config.language == "auto" else config.language
        return speak(language, config.templates)

    def thread(self, *, fresh: bool) -> ThreadClient:
        """The client that remembers what was read for this issue in the last minutes (T5)."""
        return self.github.thread(f"{self.repo}#{self.number}", fresh=fresh)


@contextmanager
def visiting(event: IssueEvent | CommentEvent, services: Services) -> Iterator[Visit | None]:
    """Enter the place of an event; None where the bot does nothing whatever happens there.

    That is on a paused host, in an archived repository, and where the settings say `mode: off`.
    """
    repo_id = event.repository.id
    visit = None
    try:
        visit = _enter(event, services)
        yield visit
    except Exception as problem:
        if visit is None or services.store.repositories.get(repo_id) is not None:
            raise
        # Trying again would keep what the delivery says in the queue, perhaps for hours.
        logger.info("access to %s ended in the middle of this: %s", event.repository.ref, type(problem).__name__)


def visited(handler: Callable[[Visit, IssueEvent], None]) -> Callable[[IssueEvent, Services], None]:
    """Make a route's handler of what is done in a place; where that is not entered, nothing is done."""

    @wraps(handler)
    def enter(event: IssueEvent, services: Services) -> None:
        with visiting(event, services) as visit:
            if visit is not None:
                handler(visit, event)

    return enter


def _enter(event: IssueEvent | CommentEvent, services: Services) -> Visit | None:
    if services.settings.paused:
        logger.info("the host has paused the bot")
        return None
    repository, installation = _whereabouts(event, services)
    if repository.archived:
        logger.info("%s is archived", repository.ref)
        return None
    client = partial(services.github.in_repository, installation)
    settings = services.repository_settings.read(client, repository)
    if settings.config.mode == "off":
        logger.info("%s says mode: off", repository.ref)
        return None
    return Visit(services, client(repository.id), repository, event.number, settings)


def _whereabouts(event: IssueEvent | CommentEvent, services: Services) -> tuple[Repository, int]:
    """The event's repository as it is now, and its installation.

    The event may have waited while the repository was renamed, hidden, archived, moved to another installation or taken
    out of ours, and so may the event that told of it. Where what it says differs from what is stored, GitHub is asked,
    who raises NotFound before anything is stored (C6a).
    """
    known = services.store.repositories.get(event.repository.id)
    if (
        known is not None
        and known.installation is not None
        and known.summary == event.repository
        and event.installation in (None, known.installation)
    ):
        return known.summary, known.installation
    installation, present = services.github.app().repository(event.repository.ref, event.repository.id)
    take_over(present, installation, services)
    services.indexing.begin(present, installation, services.arrived or services.now())
    return present, installation


def why_silent(issue: Issue, config: RepoConfig, *, sender_is_bot: bool, muted: bool) -> str:
    """Say why an issue that changed by itself is left alone; empty if it is to be looked at (C1, C6)."""
    if issue.is_pull_request:
        return "it is a pull request"
    if issue.locked:
        return LOCKED
    if issue.state == "closed":
        return "it is closed"
    if sender_is_bot and not config.bots:
        return "a bot caused it"
    if muted:
        return "it is muted"
    return config.why_ignored(issue) or ""
