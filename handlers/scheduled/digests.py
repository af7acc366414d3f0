"""Keeps the digest issue up to date in repositories that want it (`digest: issue`)."""

from __future__ import annotations

import logging
from functools import partial

import sqlalchemy as sa

from bot.conversation.posts.own_issues import TITLE_MAX, Wanted, is_kind, keep_issue
from bot.conversation.render import Place
from bot.conversation.words import speak
from bot.deliveries.database import QueueUnavailable, queue_engine
from bot.domain.entities import Issue
from bot.domain.errors import GitHubError, NotFound, Retryable
from bot.github.repository import RepoClient
from bot.quality import digest
from bot.quality.calibration import WINDOW, threshold_in_force
from bot.quality.digest import WEEK, digest_of, store_checkboxes, titles_of
from bot.quality.digest_text import DigestView, render_digest
from bot.quality.illness import Illness, illnesses
from bot.storage import StoredRepository
from bot.storage.failures import why
from bot.storage.repositories import OwnIssues
from handlers.scheduled.each import in_each, workable
from handlers.services import Services

logger = logging.getLogger(__name__)

DIGEST_EVERY = 86_400.0
# Seconds after midnight, so that the digest has the reactions, which are read at the full hour.
DIGEST_LATE = 900.0


def keep_digests(services: Services) -> None:
    """Update every digest, unless the host is paused."""
    if services.settings.paused:
        return
    queue, ill = queue_engine(services.settings), dict[int, Illness]()
    try:
        ill.update(illnesses(services.store, queue, services.now()))
    except (QueueUnavailable, sa.exc.SQLAlchemyError) as failure:
        logger.warning("the digests do not say which repositories are ill: %s", why(failure))
    finally:
        queue.dispose()

    def keep(known: StoredRepository, installation: int) -> None:
        try:
            keep_digest(services, known, installation, ill.get(known.id))
        except (GitHubError, Retryable) as refusal:
            # Tomorrow it is tried again.
            logger.warning("%s: its digest is not up to date: %s", known.ref, refusal)

    in_each(workable(services.store), services.store, keep)


def keep_digest(services: Services, known: StoredRepository, installation: int, ill: Illness | None = None) -> None:
    """Update a digest issue, if the settings ask for one. Raises GitHubError, RateLimited and Unavailable."""
    client = partial(services.github.in_repository, installation)
    config = services.repository_settings.read(client, known.summary).config
    if config.digest != "issue" or config.mode == "off":
        return
    store, now, github = services.store, services.now(), client(known.id)
    issues, login = store.digest_issues, services.github.login()
    present = _present(github, known, issues, login)
    if present is not None:
        # Ticked boxes whose event was lost or came too early.
        store_checkboxes(store, services.index, known.id, present.body, digest.SOMEBODY, now)
    found = digest_of(store, known.id, now - WEEK, now)
    if present is None and not found.lines:
        return
    say = speak(config.language_of_lists, config.templates)
    view = DigestView(
        found,
        titles_of(services.index, known.id, found),
        threshold_in_force(config, store.calibrations.get(known.id)),
        Place(str(known.ref), services.settings.enterprise),
        services.clock(),
        say,
        ill,
    )

    def body(present: str) -> str:
        # Boxes that were ticked meanwhile would be overwritten unread.
        store_checkboxes(store, services.index, known.id, present, digest.SOMEBODY, now)
        return render_digest(view, digest.stored_checkboxes(store.signals.since(known.id, now - WINDOW)))

    wanted = Wanted(known.id, known.ref, login, say.digest_title()[:TITLE_MAX], body)
    keep_issue(github, issues, wanted, now, reopen=False)


def _present(github: RepoClient, known: StoredRepository, issues: OwnIssues, login: str) -> Issue | None:
    kept = issues.get(known.id)
    if kept is None or kept.number is None:
        # GitHub may have opened it without an answer, or for a store that is lost.
        return next((one for one in github.issues_of(known.ref, login) if is_kind(one, issues.kind)), None)
    try:
        issue = github.issue(known.ref, kept.number)
    except NotFound:
        return None
    return issue if is_kind(issue, issues.kind) else None
