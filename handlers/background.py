"""Filling a repository's index, in steps that `bot.search.indexing` queues; and what came meanwhile: once the index is
complete, what nothing was found for is looked at again.

GitHub's search, which answers until then, finds less and speaks more seldom. Whoever installs the bot and tries it in
these minutes would have no answer ever, though the index has it. A comment that names something is left as it is.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from bot.conversation.commands.table import Command
from bot.conversation.messages.catalogue import messages_for
from bot.conversation.own_issues import TITLE_MAX, IssueDraft, keep_issue
from bot.conversation.render.escape import RepoLinks
from bot.deliveries.events import INDEXED, EvaluationEvent, IndexEvent, ScanEvent, own_issue_event
from bot.domain.decisions import Decision, DecisionOutcome
from bot.domain.entities import Repository
from bot.domain.errors import Forbidden, NotFound, Retryable
from bot.domain.formats import counted
from bot.quality.evaluation.history import erase_history
from bot.quality.evaluation.runs import Runs, Stage
from bot.quality.render.scan import render_scan
from bot.quality.scanning.asking import Asker
from bot.quality.scanning.scan import Scan
from bot.search.matching import shipped_model
from bot.storage import StoredRepository
from bot.storage.files import sqlite_file
from bot.storage.repositories import OFF
from handlers import recovery as recalling
from handlers.commands.request import CommandRequest, CommandResult
from handlers.context import IssueContext
from handlers.services import Services

logger = logging.getLogger(__name__)


def read_on(event: IndexEvent, services: Services) -> None:
    """Read some more of a repository's issues, if it is still ours and wants to be looked at."""
    known = services.store.repositories.get(event.repository.id)
    if known is None:
        return
    if known.suspended or known.archived:
        begun = services.store.backfills.get(known.id)
        if begun is not None and not begun.done:
            # Or it would seem for hours that somebody is at it, also when it could go on.
            services.indexing.stop(known.id, "access is suspended" if known.suspended else "it is archived")
        return
    if event.completed:
        completed(replace(event, repository=known.summary), services)
        return
    repository = known.summary
    try:
        client = partial(services.github.in_repository, services.installation_of(known))
        settings = services.repository_settings.read(client, repository)
        if settings.config.mode == "off":
            services.indexing.stop(repository.id, OFF)
            return
        github = client(repository.id)
        if event.step == 0 and recalling.is_new(services, known.id):
            recalling.recall(github, repository, services)
        services.issue_forms.refresh(github, repository)
        services.indexing.step(event, repository, github)
    except (NotFound, Forbidden) as refusal:
        logger.warning("%s cannot be read: %s", repository.ref, refusal)
        services.indexing.stop(repository.id, f"GitHub refuses it ({refusal.status})")
        present = services.store.repositories.get(repository.id)
        if present not in (None, known):
            # It has another name or owner since this began, and whoever heard of that found that this went on.
            services.indexing.begin(present.summary, present.installation, services.now())


# Seconds. A comment on what was reported longer ago comes too late for whoever reported it; `/duplicates scan` is there
# for a backlog.
_RECENT = 86_400.0
# Issues that are looked at again, the latest; each can cost a search at GitHub.
_MOST = 100


def completed(event: IndexEvent, services: Services) -> None:
    """Queue a look at each recent issue for which nothing was found before the index was complete."""
    repo_id, now = event.repository.id, services.now()
    if not services.indexing.ready(repo_id):
        # It was erased or stopped meanwhile.
        return
    looks = services.store.decisions.between(repo_id, now - _RECENT, now + _RECENT)
    for look in unanswered(looks)[-_MOST:]:
        _queue(services, event.repository, event.installation, look)


@contextmanager
def until_complete(visit: IssueContext, installation: int | None) -> Iterator[None]:
    """Around a look: if the index becomes complete in the middle of it, `completed` may come too early to see it."""
    services, repo_id = visit.services, visit.repository.id
    complete = services.indexing.ready(repo_id)
    yield
    if complete or not services.indexing.ready(repo_id):
        return
    for look in unanswered(services.store.decisions.of_issue(repo_id, visit.number)):
        _queue(services, visit.repository, installation, look)


def is_unanswered(visit: IssueContext) -> bool:
    """Whether nothing was found for the issue so far. Who asked meanwhile, and was answered, keeps that answer."""
    return bool(unanswered(visit.decisions()))


def unanswered(looks: Iterable[Decision]) -> list[Decision]:
    """The last look at each issue, by number, if it found nothing to name, whether a comment says so or not.

    `looks` are the earliest first. That an issue was left alone since, as after a bot's edit, is no look at it.
    """
    last = {look.number: look for look in looks if look.outcome is not DecisionOutcome.LEFT_ALONE}
    return [last[number] for number in sorted(last) if not any(one.shown for one in last[number].evidence)]


def _queue(services: Services, repository: Repository, installation: int | None, look: Decision) -> None:
    event = own_issue_event(INDEXED, installation, repository, look.number)
    # To look again after the same look is the same work.
    services.inbox.put(f"{INDEXED}-{repository.id}-{look.number}-{look.at:.3f}", event)


#: Issues that are asked about in one step, some seconds' work, and the seconds of rest after it.
AT_ONCE, REST = 100, 1.0
# Seconds that a step takes with its rest, for the estimate that the reply gives.
_STEP = 4.0


def begin(ask: CommandRequest, command: Command) -> CommandResult:
    """`scan`: answer at once, and look in the background."""
    visit, services = ask.visit, ask.visit.services
    repo_id = visit.repository.id
    if not services.indexing.ready(repo_id):
        progress = services.store.backfills.get(repo_id)
        seen, expected = (progress.seen, progress.expected) if progress else (None, None)
        return CommandResult(False, ask.replies.scan_not_ready(seen, expected))
    scan = _scan(services, repo_id)
    # A delivery that is handled twice queues the same step.
    chain = f"{ask.command_id}-{services.arrived or services.now():.3f}"
    event = ScanEvent(ask.installation, visit.repository, chain)
    services.inbox.put(event.delivery_id, event)
    kept = services.store.scan_issues.get(repo_id)
    steps = 1 + len(scan.missing()) // AT_ONCE
    known = kept.number if kept else None
    title = messages_for(visit.config.language_of_lists, visit.config.templates).scan_title()[:TITLE_MAX]
    return CommandResult(True, ask.replies.scan_begun(scan.count(), steps * _STEP, title, known))


def go_on(event: ScanEvent, services: Services) -> None:
    """One step of a scan, if the repository is still ours and wants to be looked at."""
    known = services.store.repositories.get(event.repository.id)
    if services.settings.paused or known is None or known.suspended or known.archived:
        return
    try:
        _step(event, known, services)
    except (NotFound, Forbidden) as refusal:
        logger.warning("the scan of %s has ended: %s", known.ref, refusal)


def _step(event: ScanEvent, known: StoredRepository, services: Services) -> None:
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
    here = client(known.id)
    scan.count_reactions(partial(here.reactions, known.ref))
    result = scan.result()
    say = messages_for(config.language_of_lists, config.templates)
    body = render_scan(result, RepoLinks(str(known.ref), services.settings.enterprise), services.clock(), say)
    login = services.github.login()
    wanted = IssueDraft(known.id, known.ref, login, say.scan_title()[:TITLE_MAX], lambda _: body)
    number = keep_issue(here, services.store.scan_issues, wanted, services.now())
    groups, issues = counted(len(result.groups), "group"), counted(result.issues, "issue")
    logger.info("%s: #%d shows %s among %s", known.ref, number, groups, issues)


def _scan(services: Services, repo_id: int) -> Scan:
    return Scan(services.store, Asker(services.index, shipped_model()), repo_id)


def run(event: EvaluationEvent, services: Services) -> None:
    """Do it, if the repository is still ours and nobody has asked anew since."""
    runs, repo_id = Runs(services.store.engine), event.repository.id
    known, asked = services.store.repositories.get(repo_id), runs.get(repo_id).run
    if known is None or asked.chain != event.chain or not asked.stage.runs:
        return
    if services.settings.paused or known.suspended:
        runs.note(repo_id, event.chain, Stage.FAILED, "the bot is paused here")
        return
    runs.note(repo_id, event.chain, Stage.RUNNING)
    try:
        # Whoever may triage reads it, and need not learn where the host keeps its files.
        problem = services.evaluate(known.ref).replace(str(services.settings.home), "DOPPEL_HOME")
    except Retryable as failure:
        # The queue tries again.
        runs.note(repo_id, event.chain, Stage.RUNNING, str(failure))
        raise
    except Exception:
        runs.note(repo_id, event.chain, Stage.FAILED, "a fault of Doppel's, of which the worker's log tells")
        raise
    finally:
        # Access may have ended meanwhile (C6a). Where workers are on several machines, it may end on another one.
        if services.store.repositories.get(repo_id) is None or sqlite_file(services.settings.database_url) is None:
            erase_history(services.settings.home, repo_id)
    runs.note(repo_id, event.chain, Stage.FAILED if problem else Stage.DONE, problem)
    logger.info("the evaluation of %s has ended%s", known.ref, f": {problem}" if problem else "")
