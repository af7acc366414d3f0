"""Long work in steps that the queue runs between deliveries: reading the index, the backlog scan, the evaluation.

GitHub's search answers until the index is complete, and finds less. So once it is complete, recent issues for which
nothing was found are looked at again: whoever installs the bot tries it in these first minutes.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from bot.conversation.commands.table import Command
from bot.conversation.messages.catalogue import messages_for
from bot.conversation.own_issues import TITLE_MAX, IssueDraft, keep_issue
from bot.conversation.render.escape import RepoLinks
from bot.deliveries.events import INDEXED, EvaluationEvent, IndexEvent, ScanEvent, own_issue_event
from bot.domain.decisions import Decision
from bot.domain.entities import Repository
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
from handlers.context import IssueContext
from handlers.services import Services

logger = logging.getLogger(__name__)


def index_step(event: IndexEvent, services: Services) -> None:
    """Read some more of a repository's issues, if the App still has it and its settings want it."""
    known = services.store.repositories.get(event.repository.id)
    if known is None:
        return
    if known.suspended or known.archived:
        begun = services.store.backfills.get(known.id)
        if begun is not None and not begun.done:
            # Else it would seem for hours that a step is running.
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
        present = services.store.repositories.get(repository.id)
        if present not in (None, known):
            # Its name or owner changed meanwhile; the handler of that found this step running and began none.
            services.indexing.begin(present.summary, present.installation, services.now())


# Seconds. A comment on an older report comes too late for its author; `/duplicates scan` is for a backlog.
_RECENT = 86_400.0
# The latest issues that are looked at again; each can cost a search.
_MOST_AGAIN = 100


def _index_completed(event: IndexEvent, services: Services) -> None:
    repo_id, now = event.repository.id, services.now()
    if not services.indexing.ready(repo_id):
        # It was erased or stopped meanwhile.
        return
    decisions = services.store.decisions.between(repo_id, now - _RECENT, now + _RECENT)
    for decision in without_candidates(decisions)[-_MOST_AGAIN:]:
        _queue_look(services, event.repository, event.installation, decision)


@contextmanager
def look_again_when_indexed(context: IssueContext) -> Iterator[None]:
    """Around a look: if the index becomes complete during it, `_index_completed` may be too early to see it."""
    services, repo_id = context.services, context.repository.id
    complete = services.indexing.ready(repo_id)
    yield
    if complete or not services.indexing.ready(repo_id):
        return
    for decision in without_candidates(context.decisions()):
        _queue_look(services, context.repository, context.installation, decision)


def _queue_look(services: Services, repository: Repository, installation: int | None, decision: Decision) -> None:
    event = own_issue_event(INDEXED, installation, repository, decision.number)
    # Looking again after the same decision is the same work.
    services.inbox.put(f"{INDEXED}-{repository.id}-{decision.number}-{decision.at:.3f}", event)


#: Issues that one step of a scan compares, some seconds' work, and the seconds of rest after it.
AT_ONCE, REST = 100, 1.0
# Seconds of a step with its rest, for the estimate in the reply.
_STEP = 4.0


def begin_scan(request: CommandRequest, command: Command) -> CommandResult:
    """`/duplicates scan` (D8): answer at once, and look through the whole backlog in the background."""
    context, services = request.context, request.context.services
    repo_id = context.repository.id
    if not services.indexing.ready(repo_id):
        progress = services.store.backfills.get(repo_id)
        seen, expected = (progress.seen, progress.expected) if progress else (None, None)
        return CommandResult(False, request.replies.scan_not_ready(seen, expected))
    scan = _scan(services, repo_id)
    # A delivery that is handled twice queues the same step.
    chain = f"{request.command_id}-{services.arrived or services.now():.3f}"
    event = ScanEvent(context.installation, context.repository, chain)
    services.inbox.put(event.delivery_id, event)
    kept = services.store.scan_issues.get(repo_id)
    steps = 1 + len(scan.missing()) // AT_ONCE
    title = messages_for(context.config.language_of_lists, context.config.templates).scan_title()[:TITLE_MAX]
    known = kept.number if kept else None
    return CommandResult(True, request.replies.scan_begun(scan.count(), steps * _STEP, title, known))


def scan_step(event: ScanEvent, services: Services) -> None:
    """Compare some more issues; the last step writes the one issue with the result."""
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
    numbers = scan.missing(event.after, AT_ONCE)
    if numbers:
        scan.ask(numbers)
        following = ScanEvent(event.installation, known.summary, event.chain, event.step + 1, numbers[-1])
        services.inbox.put(following.delivery_id, following, REST)
        return
    if event.after:
        scan.ask_again()
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
    number = keep_issue(github, services.store.scan_issues, draft, services.now())
    groups, issues = counted(len(result.groups), "group"), counted(result.issues, "issue")
    logger.info("%s: #%d shows %s among %s", known.ref, number, groups, issues)


def _scan(services: Services, repo_id: int) -> Scan:
    return Scan(services.store, BacklogMatcher(services.index, shipped_model()), repo_id)


def evaluation_requested(event: EvaluationEvent, services: Services) -> None:
    """The dashboard wants an evaluation: `doppel evaluate` runs as a process of its own and stores its result.

    Nothing happens if the App no longer has the repository, or somebody has asked again since.
    """
    runs, repo_id = EvaluationRuns(services.store.engine), event.repository.id
    known, asked = services.store.repositories.get(repo_id), runs.get(repo_id).run
    if known is None or asked.chain != event.chain or not asked.stage.runs:
        return
    if services.settings.paused or known.suspended:
        runs.note(repo_id, event.chain, Stage.FAILED, "the bot is paused here")
        return
    runs.note(repo_id, event.chain, Stage.RUNNING)
    try:
        # Maintainers read this, and need not learn where the host keeps its files.
        problem = services.evaluate(known.ref).replace(str(services.settings.home), "DOPPEL_HOME")
    except Retryable as failure:
        # The queue tries again.
        runs.note(repo_id, event.chain, Stage.RUNNING, str(failure))
        raise
    except Exception:
        runs.note(repo_id, event.chain, Stage.FAILED, "a fault of Doppel's, of which the worker's log tells")
        raise
    finally:
        # Access may have ended meanwhile (C6a), perhaps on another machine if there are several.
        if services.store.repositories.get(repo_id) is None or sqlite_file(services.settings.database_url) is None:
            erase_history(services.settings.home, repo_id)
    runs.note(repo_id, event.chain, Stage.FAILED if problem else Stage.DONE, problem)
    logger.info("the evaluation of %s has ended%s", known.ref, f": {problem}" if problem else "")
