"""The scheduled tasks for each repository: read reactions, recalibrate the threshold, update the digest issue."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import partial

import sqlalchemy as sa

from bot.conversation.messages.catalogue import messages_for
from bot.conversation.own_issues import TITLE_MAX, IssueDraft, is_kind, write_issue
from bot.conversation.render.escape import RepoLinks
from bot.deliveries.database import QueueUnavailable, queue_engine
from bot.domain.entities import Issue
from bot.domain.errors import GitHubError, NotFound, Overtaken, Retryable
from bot.github.repository import RepoClient
from bot.platform.logs import describe
from bot.quality.calibration import WINDOW, recalibrate, threshold_in_force
from bot.quality.digest import SOMEBODY, WEEK, digest_of, store_checkboxes, stored_checkboxes, titles_of
from bot.quality.digest_text import DigestView, render_digest
from bot.quality.illness import Illness, illnesses
from bot.quality.polling import ReactionPoll, RequestBudget
from bot.storage import Store, StoredRepository
from bot.storage.failures import may_pass, why
from bot.storage.repositories import OwnIssues
from handlers.repositories import erased_if_ended
from handlers.services import Services

logger = logging.getLogger(__name__)


def workable(store: Store) -> list[tuple[StoredRepository, int]]:
    """The repositories in which the App can work (not suspended, not archived), each with its installation."""
    active = [known for known in store.repositories.list() if not (known.suspended or known.archived)]
    return [(known, known.installation) for known in active if known.installation is not None]


def in_each(
    repositories: Iterable[tuple[StoredRepository, int]], store: Store, do: Callable[[StoredRepository, int], None]
) -> None:
    """Call `do` for every repository with its installation. Erase a repository if the App loses access meanwhile.

    After an error in one repository, continue with the others and raise the first error at the end. Raise at once if
    the database is away, full, locked or read-only (`may_pass`), or if another worker has taken over.
    """
    first_fault: Exception | None = None
    for known, installation in repositories:
        try:
            with erased_if_ended(known.id, store):
                do(known, installation)
        except Exception as fault:
            if may_pass(fault) or isinstance(fault, Overtaken):
                raise
            logger.error("%s: this turn failed, the others go on: %s", known.ref, describe(fault))
            first_fault = first_fault or fault
    if first_fault is not None:
        raise first_fault


FEEDBACK_EVERY = 3600.0  # seconds between two readings: an unwanted comment is folded (minimised) within the hour


def poll_feedback(services: Services) -> None:
    """Read the reactions to the latest comments and recalibrate, unless the host has paused the bot.

    Each turn starts with another repository, because a turn may end early.
    """
    if services.settings.paused:
        return
    now, ours = services.now(), workable(services.store)
    budget_of_installation: dict[int, RequestBudget] = {}
    first = int(now // FEEDBACK_EVERY) % len(ours) if ours else 0

    def poll(known: StoredRepository, installation: int) -> None:
        budget = budget_of_installation.setdefault(installation, RequestBudget())
        client_of = partial(services.github.in_repository, installation)
        try:
            # Settings as last read, perhaps slightly old, are good enough here, and save a request.
            config = services.repository_settings.last_or_present(client_of, known.summary)
            if config.mode == "off":
                return
            suggest = config.suggest_closing or config.label == "suggest"
            ReactionPoll(client_of(known.id), services.store, known.id, known.ref, now, budget, suggests=suggest).poll()
        except Retryable as limit:
            logger.warning("%s: no more reactions are read in this turn: %s", known.ref, limit)
            budget.requests = 0
        except GitHubError as refusal:
            logger.warning("%s: its reactions cannot be read: %s", known.ref, refusal)
        if recalibrate(services.store, known.id, now):
            logger.info("%s: what people said has moved the threshold", known.ref)

    in_each(ours[first:] + ours[:first], services.store, poll)


DIGEST_EVERY = 86_400.0
# Seconds after midnight: the digest waits for the reactions, which the bot reads on the hour.
DIGEST_LATE = 900.0


def update_digests(services: Services) -> None:
    """Update all digests. Each also says what is wrong with the bot in its repository, if anything (`Illness`)."""
    if services.settings.paused:
        return
    queue = queue_engine(services.settings)
    try:
        illness_of = illnesses(services.store, queue, services.now())
    except (QueueUnavailable, sa.exc.SQLAlchemyError) as failure:
        illness_of = {}
        logger.warning("the digests do not say which repositories are ill: %s", why(failure))
    finally:
        queue.dispose()

    def update(known: StoredRepository, installation: int) -> None:
        try:
            update_digest(services, known, installation, illness_of.get(known.id))
        except (GitHubError, Retryable) as refusal:
            logger.warning("%s: its digest is not up to date: %s", known.ref, refusal)

    in_each(workable(services.store), services.store, update)


def update_digest(services: Services, known: StoredRepository, installation: int, ill: Illness | None = None) -> None:
    """Open or update the digest issue, if the settings ask for it. Raises GitHubError, RateLimited and Unavailable."""
    client_of = partial(services.github.in_repository, installation)
    config = services.repository_settings.read(client_of, known.summary).config
    if config.digest != "issue" or config.mode == "off":
        return
    store, now, github = services.store, services.now(), client_of(known.id)
    digests, login = store.digest_issues, services.github.login()
    existing = _existing_digest(github, known, digests, login)
    if existing is not None:
        # Store ticked boxes if their event was lost, or if their event came before the store knew the issue.
        store_checkboxes(store, services.index, known.id, existing.body, SOMEBODY, now)
    found = digest_of(store, known.id, now - WEEK, now)
    if existing is None and not found.lines:
        return
    say = messages_for(config.language_of_lists, config.templates)
    view = DigestView(
        found,
        titles_of(services.index, known.id, found),
        threshold_in_force(config, store.calibrations.get(known.id)),
        RepoLinks(str(known.ref), services.settings.enterprise),
        services.clock(),
        say,
        ill,
    )

    def body(old: str) -> str:
        # Store boxes that were ticked meanwhile, because the new text overwrites them.
        store_checkboxes(store, services.index, known.id, old, SOMEBODY, now)
        return render_digest(view, stored_checkboxes(store.signals.since(known.id, now - WINDOW)))

    wanted = IssueDraft(known.id, known.ref, login, say.digest_title()[:TITLE_MAX], body)
    write_issue(github, digests, wanted, now, reopen=False)


def _existing_digest(github: RepoClient, known: StoredRepository, digests: OwnIssues, login: str) -> Issue | None:
    stored = digests.get(known.id)
    if stored is None or stored.number is None:
        # GitHub may have a digest that the store does not know: GitHub's response or the store may have been lost.
        return next((issue for issue in github.issues_of(known.ref, login) if is_kind(issue, digests.kind)), None)
    try:
        issue = github.issue(known.ref, stored.number)
    except NotFound:
        return None
    return issue if is_kind(issue, digests.kind) else None
