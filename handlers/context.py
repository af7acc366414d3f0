"""Entering a place: what every handler of issues and comments must know before it does anything there."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial, wraps

from bot.conversation.commands.table import CommandOptions
from bot.conversation.comments import CommentSlot
from bot.conversation.config.schema import ASKED_MOST, RepoConfig
from bot.conversation.marker import ADVICE
from bot.conversation.messages.catalogue import Messages, messages_for
from bot.conversation.messages.detection import language_of
from bot.conversation.render.escape import RepoLinks
from bot.deliveries.events import CommentEvent, IssueEvent
from bot.domain.decisions import Decision
from bot.domain.entities import Issue, RepoRef, Repository
from bot.domain.errors import Unavailable
from bot.domain.report import Report
from bot.github.repository import RepoClient, ThreadClient
from bot.platform.metrics import FIND_SECONDS, FINDS
from bot.platform.tracing import span
from bot.quality.calibration import Bar, bar_in_force
from bot.quality.feedback import decided_in
from bot.quality.known_issues import RepositoryWords
from bot.search.finder import Finder, Outside, bot_options, finder_settings, further_sources
from bot.search.ranking.keywords import has_usable_words
from bot.search.repository_settings import Loaded
from bot.storage import KeptComment
from handlers.repositories import take_over
from handlers.services import Services

logger = logging.getLogger(__name__)

LOCKED = "it is locked"
"""Why an issue that changed by itself was left alone, where it will be looked at as soon as it is unlocked."""


@dataclass(frozen=True)
class IssueContext:
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
    def bar(self) -> Bar:
        """How sure the bot must be here to speak of its own accord; the same for all that is said in one visit."""
        return bar_in_force(self.config, self.services.store.calibrations.get(self.repository.id))

    @cached_property
    def own_issues(self) -> set[int]:
        """The numbers of the issues that the bot itself keeps here, which it never looks at nor names."""
        return self.services.store.own_issues(self.repository.id)

    @property
    def place(self) -> RepoLinks:
        """Where comments are written, for rendering."""
        return RepoLinks(str(self.repo), self.services.settings.enterprise)

    @property
    def slot(self) -> CommentSlot:
        """Where the advisory comment is kept."""
        return CommentSlot(self.repository.id, self.repo, self.number, ADVICE.begins)

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

    def words(self, issue: Issue) -> Messages:
        """What is said on an issue: in the language of the settings or else in its own, with the repository's texts."""
        config = self.config
        language = language_of(issue.title, issue.body) if config.language == "auto" else config.language
        return messages_for(language, config.templates)

    def thread(self, *, fresh: bool) -> ThreadClient:
        """The client that remembers what was read for this issue in the last minutes (T5)."""
        return self.github.thread(f"{self.repo}#{self.number}", fresh=fresh)


@contextmanager
def visiting(event: IssueEvent | CommentEvent, services: Services) -> Iterator[IssueContext | None]:
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


def visited(handler: Callable[[IssueContext, IssueEvent], None]) -> Callable[[IssueEvent, Services], None]:
    """Make a route's handler of what is done in a place; where that is not entered, nothing is done."""

    @wraps(handler)
    def enter(event: IssueEvent, services: Services) -> None:
        with visiting(event, services) as visit:
            if visit is not None:
                handler(visit, event)

    return enter


def _enter(event: IssueEvent | CommentEvent, services: Services) -> IssueContext | None:
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
    return IssueContext(services, client(repository.id), repository, event.number, settings)


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


UNASKED_SECONDS = 2.0
"""F8b: what sources over the network have beside a complete index, where nobody asked."""


def finder_for(
    visit: IssueContext, issue: Issue, *, fresh: bool = False, within: float | None = None, judged: bool = False
) -> Finder:
    """A finder for this issue that remembers its searches for some minutes (T5), unless they shall be `fresh`.

    It looks in the repository's own index as soon as that is complete, and in GitHub's searches alone until then.
    `within` is as in `Finder`; with `judged` the host's judge reads what is found, where it has one.
    """
    services, repository, judge = visit.services, visit.repository, visit.services.judge
    # Forms cost requests, and their headings matter only where the issue has headings.
    forms = services.issue_forms.headings(visit.github, visit.repository) if "##" in issue.body else ()
    github = visit.thread(fresh=fresh)
    index = services.indexing.progress(visit.repository.id)
    return Finder(
        github,
        words=RepositoryWords(services.store.words, visit.repository.id, issue),
        issues=index.size,
        settings=finder_settings(visit.config, headings=forms, workflow_field=services.settings.workflow_field),
        matcher=services.matcher if index.done else None,
        outside=Outside(services.index),
        repo_id=visit.repository.id,
        further=further_sources(visit.config, github, services.settings.siblings),
        within=within,
        judge=judge.of(repository.id, visit.config.judge, private=repository.private) if judge and judged else None,
    )


def find(
    visit: IssueContext,
    issue: Issue,
    options: CommandOptions | None = None,
    words: tuple[str, ...] = (),
    *,
    show_named: bool = True,
    asked: bool = False,
) -> Report:
    """Look for earlier issues; `options` and `words` are those of a command, which lists the best there are.

    Who has `asked` waits for what takes its time; of its own accord the bot waits for the index alone (F8b). What the
    issue's text names already is marked, or left out unless `show_named`.

    Raises Unavailable where nothing was found and a question is open that may be answered later: the queue then tries
    again, since neither silence nor "nothing found" would be true (F9). What was answered is remembered till then.
    Where the repository's own index has answered, that is enough.
    """
    # Words that say nothing are no question, to which the closest issues would be no answer (F9).
    listing = options is not None and (not words or has_usable_words(" ".join(words)))
    options = options or CommandOptions()
    store, repo_id = visit.services.store, visit.repository.id
    with FIND_SECONDS.time(), span("find") as traced:
        decided = decided_in(store, repo_id)
        finder = finder_for(visit, issue, fresh=options.fresh, within=None if asked else UNASKED_SECONDS, judged=True)
        unasked = bot_options(
            visit.config,
            issue,
            visit.bar.value,
            rejected=decided.different_from(visit.number) | visit.own_issues,
            rejected_elsewhere=store.elsewhere.rejected(repo_id, visit.number),
            duplicates=decided.originals,
        )
        wanted = replace(
            unasked,
            threshold=options.threshold or unasked.threshold,
            min_confidence=unasked.min_confidence if options.confidence is None and not listing else options.confidence,
            max_candidates=options.limit or max(unasked.max_candidates, ASKED_MOST if listing else 0),
            state=options.state or unasked.state,
            words=" ".join(words),
            show_named=show_named,
        )
        report = finder.find(issue, wanted)
        traced.set_attribute("outcome", report.outcome.value)
        traced.set_attribute("candidates", len(report.candidates))
    FINDS.labels(report.outcome.value).inc()
    if not report.candidates and not report.indexed and any(query.later for query in report.queries):
        raise Unavailable(f"not every search about {visit.repo}#{visit.number} was answered")
    return report
