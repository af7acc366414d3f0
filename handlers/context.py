"""The context of an issue, for every handler of issues: the repository's settings and clients, and the finder."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, wraps

from bot.conversation.commands.table import CommandOptions
from bot.conversation.comments import CommentSlot
from bot.conversation.config.schema import ASKED_MOST, RepoConfig
from bot.conversation.marker import ADVICE
from bot.conversation.messages.catalogue import Messages, messages_for
from bot.conversation.messages.detection import language_of
from bot.conversation.own_issues import is_own_issue
from bot.conversation.render.escape import RepoLinks
from bot.deliveries.events import CommentEvent, IssueEvent
from bot.domain.decisions import Decision
from bot.domain.entities import Issue, RepoRef, Repository
from bot.domain.errors import RateLimited, RemarkCode, Unavailable
from bot.domain.report import Report
from bot.github.repository import RepoClient
from bot.platform.metrics import FIND_SECONDS, FINDS
from bot.platform.tracing import span
from bot.quality.calibration import Threshold, threshold_in_force
from bot.quality.feedback import decisions_on_pairs
from bot.search.finder import Finder, TemporaryIndexes, bot_options, finder_settings, further_sources
from bot.search.ranking.query import has_usable_words
from bot.search.repository_settings import LoadedSettings
from bot.storage import StoredComment
from handlers.repositories import take_over
from handlers.services import Services

logger = logging.getLogger(__name__)

LOCKED = "it is locked"
"""The reason for skipping a locked issue. Unlocking the issue causes a new look."""

UNASKED_SECONDS = 2.0
"""F8b: how long network sources may take, unless a command asked. Without a complete index, there is no limit."""


@dataclass(frozen=True)
class IssueContext:
    """An issue with its repository's settings and clients. `installation` is the id in the event."""

    services: Services
    github: RepoClient
    repository: Repository
    number: int
    settings: LoadedSettings
    installation: int | None
    _finders: dict[tuple[bool, bool, bool], Finder] = field(default_factory=dict)
    _issue: list[Issue] = field(default_factory=list)

    @property
    def issue(self) -> Issue:
        """The issue as GitHub shows it now, read once; the event's payload may be old."""
        # Python 3.11's cached_property has one lock for all instances: all jobs would wait for one job's request.
        if not self._issue:
            self._issue.append(self.github.issue(self.repo, self.number))
        return self._issue[0]

    def reload(self) -> None:
        """Read the issue again, because a command may have changed it. Raises what `RepoClient.issue` raises."""
        self._issue[:] = [self.github.issue(self.repo, self.number)]
        self._finders.clear()

    @property
    def repo(self) -> RepoRef:
        return self.repository.ref

    @property
    def config(self) -> RepoConfig:
        return self.settings.config

    @cached_property
    def threshold(self) -> Threshold:
        """The lowest probability at which the bot comments unasked."""
        return threshold_in_force(self.config, self.services.store.calibrations.get(self.repository.id))

    @cached_property
    def own_issues(self) -> set[int]:
        """The numbers of the issues that the bot itself maintains here, such as the digest."""
        return self.services.store.own_issues(self.repository.id)

    @property
    def is_own_issue(self) -> bool:
        return is_own_issue(self.issue, self.own_issues)

    @property
    def links(self) -> RepoLinks:
        return RepoLinks(str(self.repo), self.services.settings.enterprise)

    @property
    def slot(self) -> CommentSlot:
        return CommentSlot(self.repository.id, self.repo, self.number, is_marked=ADVICE.begins)  # marker comes first

    def stored_comment(self) -> StoredComment | None:
        """The advisory comment as last stored; None if the store has no row."""
        return self.services.store.comments.get(self.repository.id, self.number)

    @property
    def muted(self) -> bool:
        return self.services.store.muted.is_muted(self.repository.id, self.number)

    def decisions(self) -> list[Decision]:
        return self.services.store.decisions.of_issue(self.repository.id, self.number)

    @property
    def messages(self) -> Messages:
        """The bot's messages, in the language that the settings name, or else in the issue's."""
        config = self.config
        language = language_of(self.issue.title, self.issue.body) if config.language == "auto" else config.language
        return messages_for(language, config.templates)

    def finder(self, *, fresh: bool = False, asked: bool = False, judged: bool = True) -> Finder:
        """The finder for this issue, built once for each set of arguments. Searches are cached for minutes (T5).

        The finder uses the repository's index if the index is complete, else only GitHub's searches. `fresh` ignores
        cached searches, `asked` lifts the time limit of slow sources, and `judged` includes the host's judge.
        """
        key = fresh, asked, judged
        if key not in self._finders:
            self._finders[key] = self._make_finder(*key)
        return self._finders[key]

    def _make_finder(self, fresh: bool, asked: bool, judged: bool) -> Finder:
        services, repository = self.services, self.repository
        # Request the forms only for an issue with headings: without headings, the forms do not matter.
        forms = services.issue_forms.headings(self.github, repository) if "##" in self.issue.body else ()
        github = self.github.thread(f"{self.repo}#{self.number}", fresh=fresh)
        progress = services.indexing.progress(repository.id)
        judge = services.judge if judged else None
        return Finder(
            github,
            issues=progress.size,
            settings=finder_settings(self.config, headings=forms, workflow_field=services.settings.workflow_field),
            matcher=services.matcher if progress.done else None,
            temporary=TemporaryIndexes(services.index),
            repo_id=repository.id,
            further=further_sources(self.config, github, services.settings.siblings),
            within=None if asked else UNASKED_SECONDS,
            judge=judge.of(repository.id, self.config.judge, private=repository.private) if judge else None,
        )

    def find(
        self,
        options: CommandOptions | None = None,
        words: tuple[str, ...] = (),
        *,
        show_named: bool = True,
        asked: bool = False,
    ) -> Report:
        """Look for earlier reports of the issue. `options` and `words` come from a command.

        For a command, the report has the best candidates even below the threshold. Candidates that the issue's
        text names are marked, or omitted without `show_named`. `asked` lifts the time limit of slow sources.
        Raises RateLimited or Unavailable if there are no candidates, and a failed search may succeed later: the answer
        "nothing found" would not be honest (F9). Does not raise if the repository's own index answered.
        """
        # A command also shows unlikely candidates. If all its words are meaningless, such issues are no answer (F9).
        shows_unlikely = options is not None and (not words or has_usable_words(" ".join(words)))
        options = options or CommandOptions()
        store, repo_id = self.services.store, self.repository.id
        with FIND_SECONDS.time(), span("find") as traced:
            decided = decisions_on_pairs(store, repo_id)
            bot_defaults = bot_options(
                self.config,
                self.issue,
                self.threshold.value,
                rejected=decided.different_from(self.number) | self.own_issues,
                rejected_elsewhere=store.verdicts.rejected_elsewhere(repo_id, self.number),
                duplicates=decided.originals,
            )
            least, most = bot_defaults.min_confidence, bot_defaults.max_candidates
            if shows_unlikely:
                least, most = None, max(most, ASKED_MOST)  # None: candidates of any probability
            find_options = replace(
                bot_defaults,
                threshold=options.threshold or bot_defaults.threshold,  # a similarity of titles, not a probability
                min_confidence=least if options.confidence is None else options.confidence,
                max_candidates=options.limit or most,
                state=options.state or bot_defaults.state,
                words=" ".join(words),
                show_named=show_named,
            )
            report = self.finder(fresh=options.fresh, asked=asked).find(self.issue, find_options)
            traced.set_attribute("outcome", report.outcome.value)
            traced.set_attribute("candidates", len(report.candidates))
        FINDS.labels(report.outcome.value).inc()
        retryable_codes = {query.problem.code for query in report.queries if query.later and query.problem}
        if retryable_codes and not report.candidates and not report.indexed:
            error = RateLimited if retryable_codes & {RemarkCode.SEARCH_LIMIT, RemarkCode.HYBRID_LIMIT} else Unavailable
            raise error(f"not every search about {self.repo}#{self.number} was answered")
        return report


@contextmanager
def issue_context(event: IssueEvent | CommentEvent, services: Services) -> Iterator[IssueContext | None]:
    """The context of an event; None if the host has paused the bot, or the repository is archived or in `mode: off`."""
    context = None
    try:
        context = _make_context(event, services)
        yield context
    except Exception as problem:
        if context is None or services.store.repositories.get(event.repository.id):
            raise
        # The repository was erased, as access ended. Do not raise: a retry would keep the delivery's content queued.
        logger.info("access to %s ended in the middle of this: %s", event.repository.ref, type(problem).__name__)


def with_context(handler: Callable[[IssueContext, IssueEvent], None]) -> Callable[[IssueEvent, Services], None]:
    """Turn a function of a context into a route's handler, which does nothing if there is no context."""

    @wraps(handler)
    def handle(event: IssueEvent, services: Services) -> None:
        with issue_context(event, services) as context:
            if context is not None:
                handler(context, event)

    return handle


def _make_context(event: IssueEvent | CommentEvent, services: Services) -> IssueContext | None:
    if services.settings.paused:
        logger.info("the host has paused the bot")
        return None
    repository, installation = _present_repository(event, services)
    if repository.archived:
        logger.info("%s is archived", repository.ref)
        return None
    client_of = partial(services.github.in_repository, installation)
    settings = services.repository_settings.read(client_of, repository)
    if settings.config.mode == "off":
        logger.info("%s says mode: off", repository.ref)
        return None
    return IssueContext(services, client_of(repository.id), repository, event.number, settings, event.installation)


def _present_repository(event: IssueEvent | CommentEvent, services: Services) -> tuple[Repository, int]:
    """The event's repository in its present state, and its installation.

    While the event waited, the repository may have been renamed, hidden, archived or moved, or access may have ended.
    If the event and the store differ, ask GitHub. Without access this raises NotFound before storing anything (C6a).
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


def why_skipped(issue: Issue, config: RepoConfig, *, sender_is_bot: bool, muted: bool) -> str:
    """Why to skip an issue that was opened or changed (C1, C6); empty if the bot should look at the issue."""
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
