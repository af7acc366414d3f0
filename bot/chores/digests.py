"""The one issue with the digest, in repositories that want it (`digest: issue`), kept up to date on a schedule."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial

from bot.calibration.bar import bar_in_force
from bot.calibration.rule import WINDOW
from bot.chores.each import in_each, workable
from bot.digest import boxes
from bot.digest.reading import WEEK, digest_of, take_boxes, titles_of
from bot.errors import GitHubError, NotFound, Retryable
from bot.github.repository.repo import RepoClient
from bot.jobs.database import queue_engine
from bot.model import Issue
from bot.monitoring.illness import Illness, illnesses
from bot.posts.own_issues import TITLE_MAX, Wanted, is_kind, keep_issue
from bot.render import Place
from bot.render.digest import DigestView, render_digest
from bot.services import Services
from bot.store import StoredRepository
from bot.store.parts.repositories import OwnIssues
from bot.words import speak

logger = logging.getLogger(__name__)

DIGEST_EVERY = 86_400.0
"""Seconds between two looks at what the issue says."""

DIGEST_LATE = 900.0
"""Seconds after midnight: the reactions, which are read at the full hour, are in it then."""


def keep_digests(services: Services) -> None:
    """Bring every digest up to date. A paused host writes nothing on GitHub."""
    if services.settings.paused:
        return
    queue = queue_engine(services.settings)
    try:
        ill = illnesses(services.store, queue, services.now())
    finally:
        queue.dispose()
    in_each(workable(services.store), services.store, partial(_keep, services, ill))


def _keep(services: Services, ill: Mapping[int, Illness], known: StoredRepository, installation: int) -> None:
    try:
        keep_digest(services, known, installation, ill.get(known.id))
    except (GitHubError, Retryable) as refusal:
        # The next day brings another.
        logger.warning("%s: its digest is not up to date: %s", known.ref, refusal)


def keep_digest(services: Services, known: StoredRepository, installation: int, ill: Illness | None = None) -> None:
    """Have the issue say what the bot did in the last week; nothing, where the settings do not ask for it.

    Nothing is opened before there is anything to say. Raises GitHubError, RateLimited and Unavailable.
    """
    client = partial(services.github.in_repository, installation)
    config = services.repository_settings.read(client, known.summary).config
    if config.digest != "issue" or config.mode == "off":
        return
    store, now, github = services.store, services.now(), client(known.id)
    issues, login = store.digest_issues, services.github.app().get_app().bot_login
    present = _present(github, known, issues, login)
    if present is not None:
        # What was ticked since, of which the event has not come or came too early.
        take_boxes(store, services.index, known.id, present.body, boxes.SOMEBODY, now)
    found = digest_of(store, known.id, now - WEEK, now)
    if present is None and not found.lines:
        return
    say = speak(config.language_of_lists, config.templates)
    view = DigestView(
        found,
        titles_of(services.index, known.id, found),
        bar_in_force(config, store.calibrations.get(known.id)),
        Place(str(known.ref), services.settings.enterprise),
        services.clock(),
        say,
        ill,
    )

    def body(present: str) -> str:
        # What was ticked since, while all this was found, would be written over unread.
        take_boxes(store, services.index, known.id, present, boxes.SOMEBODY, now)
        return render_digest(view, boxes.known_boxes(store.signals.since(known.id, now - WINDOW)))

    wanted = Wanted(known.id, known.ref, login, say.digest_title()[:TITLE_MAX], body)
    keep_issue(github, issues, wanted, now, reopen=False)


def _present(github: RepoClient, known: StoredRepository, issues: OwnIssues, login: str) -> Issue | None:
    kept = issues.get(known.id)
    if kept is None or kept.number is None:
        # GitHub may have opened it without an answer, or for a store that is lost; people tick its boxes all the same.
        return next((one for one in github.issues_of(known.ref, login) if is_kind(one, issues.kind)), None)
    try:
        issue = github.issue(known.ref, kept.number)
    except NotFound:
        return None
    return issue if is_kind(issue, issues.kind) else None
