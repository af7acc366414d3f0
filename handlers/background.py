"""Runs long jobs in the background. The index is built, and the backlog scanned, in steps. An evaluation is one step.

Until the index is complete, the bot relies on GitHub's search, which finds less. Once the index is complete, the bot
looks again at recent issues without candidates: people try a new bot in the first minutes after installing it.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial

from bot.conversation.commands.table import Command
from bot.conversation.messages.catalogue import messages_for
from bot.conversation.own_issues import TITLE_MAX, IssueDraft, write_issue
from bot.conversation.render.escape import RepoLinks
from bot.deliveries.events import INDEXED, EvaluationEvent, IndexEvent, ScanEvent, own_issue_event
from bot.domain.errors import Forbidden, NotFound, Retryable
from bot.domain.formats import counted
from bot.quality.evaluation.history import erase_history
from bot.quality.evaluation.runs import EvaluationRuns, Stage
from bot.quality.scanning.markdown import render_scan
from bot.quality.scanning.scan import BacklogMatcher, Scan
from bot.search.matching import shipped_model
from bot.storage import StoredRepository
from bot.storage.replaced import sqlite_file
from bot.storage.repositories import OFF
from handlers import recovery
from handlers.answered import without_candidates
from handlers.commands.request import CommandRequest, CommandResult
from handlers.services import Services

logger = logging.getLogger(__name__)


def index_step(event: IndexEvent, services: Services) -> None:
    """Read more of a repository's issues, if the App still has access and the settings do not say `mode: off`."""
    known = services.store.repositories.get(event.repository.id)
    if known is None:
        return
    if known.suspended or known.archived:
        begun = services.store.backfills.get(known.id)
        if begun is not None and not begun.done:
            # Record the end: otherwise, the backfill would seem to run for hours.
            services.indexing.stop(known.id, "access is suspended" if known.suspended else "it is archived")
        return
    repository = known.summary
    if event.completed:
        _index_completed(replace(event, repository=repository), services)
        return
    try:
        client = partial(services.github.in_repository, services.installation_of(known))
        settings = services.repository_settings.read(client, repository)
        if settings.config.mode == "off":
            services.indexing.stop(repository.id, OFF)
            return
        github = client(repository.id)
        if event.step == 0 and recovery.is_new(services, known.id):
            recovery.recover(github, repository, services)
        services.issue_forms.refresh(github, repository)
        services.indexing.step(event, repository, github)
    except (NotFound, Forbidden) as refusal:
        logger.warning("%s cannot be read: %s", repository.ref, refusal)
        services.indexing.stop(repository.id, f"GitHub refuses it ({refusal.status})")
        current = services.store.repositories.get(repository.id)
        if current is not None and current != known:
            # The repository was renamed or moved. `repository_changed` began no backfill: the old backfill still ran.
            services.indexing.begin(current.summary, current.installation, services.now())


# A day, in seconds. The authors of older reports no longer need a comment, and `/duplicates scan` covers the backlog.
_RECENT = 86_400.0
# The most issues to look at again; each look can cost requests to GitHub.
_MOST_LOOKS = 100


def _index_completed(event: IndexEvent, services: Services) -> None:
    repo_id, now = event.repository.id, services.now()
    if not services.indexing.ready(repo_id):
        # The index was erased or stopped meanwhile.
        return
    # Include decisions at `now` (`between` excludes its end) and later ones, which exist if the clock was set back.
    decisions = services.store.decisions.between(repo_id, now - _RECENT, now + _RECENT)
    for decision in without_candidates(decisions)[-_MOST_LOOKS:]:
        recheck = own_issue_event(INDEXED, event.installation, event.repository, decision.number)
        # The id names the decision, so that the queue drops a second recheck after the same decision.
        services.inbox.put(f"{INDEXED}-{repo_id}-{decision.number}-{decision.at:.3f}", recheck)


# A step of a scan compares this many issues, which takes some seconds. A pause of PAUSE seconds follows each step.
ISSUES_PER_STEP, PAUSE = 100, 1.0
# To estimate the duration of a scan, the reply counts this many seconds for each step with its pause.
_STEP_SECONDS = 4.0


def begin_scan(request: CommandRequest, command: Command) -> CommandResult:
    """`/duplicates scan` (D8): reply at once, and compare the whole backlog in the background."""
    context, services = request.context, request.context.services
    repo_id = context.repository.id
    if not services.indexing.ready(repo_id):
        progress = services.store.backfills.get(repo_id)
        seen, expected = (progress.seen, progress.expected) if progress else (None, None)
        return CommandResult(False, request.replies.scan_not_ready(seen, expected))
    scan = _scan(services, repo_id)
    # The queue drops a second event of the same id, so a retry of this job does not start a second scan.
    chain = f"{request.command_id}-{services.arrived or services.now():.3f}"
    event = ScanEvent(context.installation, context.repository, chain)
    services.inbox.put(event.delivery_id, event)
    stored = services.store.scan_issues.get(repo_id)
    steps = 1 + len(scan.missing()) // ISSUES_PER_STEP
    title = messages_for(context.config.language_of_lists, context.config.templates).scan_title()[:TITLE_MAX]
    number = stored.number if stored else None
    return CommandResult(True, request.replies.scan_begun(scan.count(), steps * _STEP_SECONDS, title, number))


def scan_step(event: ScanEvent, services: Services) -> None:
    """Compare the next issues. The last step writes the result into an issue of the bot's own."""
    known = services.store.repositories.get(event.repository.id)
    if services.settings.paused or known is None or known.suspended or known.archived:
        return
    try:
        _scan_step(event, known, services)
    except (NotFound, Forbidden) as refusal:
        logger.warning("the scan of %s has ended: %s", known.ref, refusal)


def _scan_step(event: ScanEvent, known: StoredRepository, services: Services) -> None:
    scan = _scan(services, known.id)
    if event.step == 0:
        scan.begin()
    numbers = scan.missing(event.after, ISSUES_PER_STEP)
    if numbers:
        scan.ask(numbers)
        following = ScanEvent(event.installation, known.summary, event.chain, event.step + 1, numbers[-1])
        services.inbox.put(following.delivery_id, following, PAUSE)
        return
    client = partial(services.github.in_repository, services.installation_of(known))
    config = services.repository_settings.read(client, known.summary).config
    if config.mode == "off":
        return
    github = client(known.id)
    scan.count_reactions(partial(github.reactions, known.ref))
    result = scan.result()
    say = messages_for(config.language_of_lists, config.templates)
    body = render_scan(result, RepoLinks(str(known.ref), services.settings.enterprise), services.clock(), say)
    login = services.github.login()
    draft = IssueDraft(known.id, known.ref, login, say.scan_title()[:TITLE_MAX], lambda _: body)
    number = write_issue(github, services.store.scan_issues, draft, services.now())
    groups, issues = counted(len(result.groups), "group"), counted(result.issues, "issue")
    logger.info("%s: #%d shows %s among %s", known.ref, number, groups, issues)


def _scan(services: Services, repo_id: int) -> Scan:
    return Scan(services.store, BacklogMatcher(services.index, shipped_model()), repo_id)


def evaluation_requested(event: EvaluationEvent, services: Services) -> None:
    """Run the evaluation that a person requested on the dashboard. A separate process runs it and stores the result.

    Do nothing if the App has lost the repository, the evaluation has ended, or somebody has requested a newer one.
    """
    runs, repo_id = EvaluationRuns(services.store.engine), event.repository.id
    known, asked = services.store.repositories.get(repo_id), runs.get(repo_id).run
    if known is None or asked.chain != event.chain or not asked.stage.is_active:
        return
    if services.settings.paused or known.suspended:
        runs.note(repo_id, event.chain, Stage.FAILED, "the bot is paused here")
        return
    runs.note(repo_id, event.chain, Stage.RUNNING)
    try:
        # The dashboard shows this text to maintainers, so it must not reveal where the host keeps its files.
        problem = services.evaluate(known.ref).replace(str(services.settings.home), "DOPPEL_HOME")
    except Retryable as failure:
        runs.note(repo_id, event.chain, Stage.RUNNING, str(failure))
        raise
    except Exception:
        runs.note(repo_id, event.chain, Stage.FAILED, "a fault of Doppel's own; the worker's log says more")
        raise
    finally:
        # Erase the history if access has ended meanwhile (C6a). With PostgreSQL, always erase it: another machine may
        # handle the event that ends access later, and that machine cannot erase this machine's files.
        if services.store.repositories.get(repo_id) is None or sqlite_file(services.settings.database_url) is None:
            erase_history(services.settings.home, repo_id)
    runs.note(repo_id, event.chain, Stage.FAILED if problem else Stage.DONE, problem)
    logger.info("the evaluation of %s has ended%s", known.ref, f": {problem}" if problem else "")
