"""Entering a place: what every handler of issues and comments must know before it does anything there."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bot.comments import Slot
from bot.config import RepoConfig
from bot.events import CommentEvent, IssueEvent, RepositorySummary
from bot.github.repo import RepoClient, ThreadClient
from bot.model import Issue, RepoRef
from bot.render import Place, has_marker
from bot.repository_settings import Loaded
from bot.services import Services

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Visit:
    """One issue, with the client of its installation and the settings of its repository."""

    services: Services
    github: RepoClient
    repository: RepositorySummary
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

    @property
    def place(self) -> Place:
        """Where comments are written, for rendering."""
        return Place(str(self.repo), self.services.settings.enterprise)

    @property
    def slot(self) -> Slot:
        """Where the advisory comment is kept."""
        return Slot(self.repository.id, self.repo, self.number, has_marker)

    def thread(self, *, fresh: bool) -> ThreadClient:
        """The client that remembers what was read for this issue in the last minutes (T5)."""
        return self.github.thread(f"{self.repo}#{self.number}", fresh=fresh)


@contextmanager
def visiting(event: IssueEvent | CommentEvent, services: Services) -> Iterator[Visit | None]:
    """Enter the place of an event; None where the bot does nothing whatever happens there.

    That is on a paused host, in an archived repository, and where the settings say `mode: off`.
    """
    try:
        yield _enter(event, services)
    finally:
        if services.store.repositories.get(event.repository.id) is None:
            # Access ended in the middle of this work, and what it has stored since must not stay (C6a).
            services.store.forget(event.repository.id)


def _enter(event: IssueEvent | CommentEvent, services: Services) -> Visit | None:
    known = services.store.repositories.get(event.repository.id)
    # The event may have waited while the repository was archived.
    if services.settings.paused or event.repository.archived or (known is not None and known.archived):
        logger.info("%s is archived, or the host has paused the bot", event.repository.ref)
        return None
    installation = event.installation or services.github.app().installation_of(event.repository.ref)
    github = services.github.installation(installation)
    if known is None:
        # Either the store is new, or access has ended, and then this raises before anything is stored.
        github.repository(event.repository.ref)
        services.store.repositories.upsert(event.repository, installation, services.now())
    settings = services.repository_settings.read(github, event.repository)
    if settings.config.mode == "off":
        logger.info("%s says mode: off", event.repository.ref)
        return None
    return Visit(services, github, event.repository, event.number, settings)


def why_silent(issue: Issue, config: RepoConfig, *, sender_is_bot: bool, muted: bool) -> str:
    """Say why an issue that changed by itself is left alone; empty if it is to be looked at (C1, C6)."""
    if issue.is_pull_request:
        return "it is a pull request"
    if issue.locked:
        return "it is locked"
    if issue.state == "closed":
        return "it is closed"
    if sender_is_bot or issue.author.is_bot:
        return "a bot caused it"
    if muted:
        return "it is muted"
    return config.why_ignored(issue.author.login, issue.labels, issue.title) or ""
