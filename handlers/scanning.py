"""`/duplicates scan`: looking through a repository's whole backlog, in steps of the background queue (D8).

The steps lie in the queue that the index is filled from: one at a time, with pauses, so that issues are answered
meanwhile. Each asks about some issues and keeps what it found; the last one writes the one issue.
"""

from __future__ import annotations

import logging
from functools import partial

from bot.conversation.commands import Command
from bot.conversation.posts.own_issues import TITLE_MAX, Wanted, keep_issue
from bot.conversation.render import Place
from bot.conversation.words import speak
from bot.deliveries.events import ScanEvent
from bot.domain.counting import counted
from bot.domain.errors import Forbidden, NotFound
from bot.quality.scanning.markdown import render_scan
from bot.quality.scanning.scan import BacklogMatcher, Scan
from bot.search.matching import shipped_model
from bot.storage import StoredRepository
from handlers.commands.ask import Answer, Ask
from handlers.services import Services

logger = logging.getLogger(__name__)

#: Issues that are asked about in one step, some seconds' work, and the seconds of rest after it.
AT_ONCE, REST = 100, 1.0
# Seconds that a step takes with its rest, for the estimate that the reply gives.
_STEP = 4.0


def begin(ask: Ask, command: Command) -> Answer:
    """`scan`: answer at once, and look in the background."""
    visit, services = ask.visit, ask.visit.services
    repo_id = visit.repository.id
    if not services.indexing.ready(repo_id):
        progress = services.store.backfills.get(repo_id)
        seen, expected = (progress.seen, progress.expected) if progress else (None, None)
        return Answer(False, ask.replies.scan_not_ready(seen, expected))
    scan = _scan(services, repo_id)
    # A delivery that is handled twice queues the same step.
    chain = f"{ask.command_id}-{services.arrived or services.now():.3f}"
    event = ScanEvent(ask.installation, visit.repository, chain)
    services.inbox.put(event.delivery_id, event)
    kept = services.store.scan_issues.get(repo_id)
    steps = 1 + len(scan.missing()) // AT_ONCE
    known = kept.number if kept else None
    title = speak(visit.config.language_of_lists, visit.config.templates).scan_title()[:TITLE_MAX]
    return Answer(True, ask.replies.scan_begun(scan.count(), steps * _STEP, title, known))


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
    say = speak(config.language_of_lists, config.templates)
    body = render_scan(result, Place(str(known.ref), services.settings.enterprise), services.clock(), say)
    login = services.github.login()
    wanted = Wanted(known.id, known.ref, login, say.scan_title()[:TITLE_MAX], lambda _: body)
    number = keep_issue(here, services.store.scan_issues, wanted, services.now())
    groups, issues = counted(len(result.groups), "group"), counted(result.issues, "issue")
    logger.info("%s: #%d shows %s among %s", known.ref, number, groups, issues)


def _scan(services: Services, repo_id: int) -> Scan:
    return Scan(services.store, BacklogMatcher(services.index, shipped_model()), repo_id)
