"""The composition root: the only place that builds clients and stores, and that knows the handlers."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from time import monotonic

from bot import manifest
from bot.calibration.bar import Bar, bar_in_force
from bot.calibration.keeping import Calibrations
from bot.calls import CallCounts, get_tool_call_tracker
from bot.comments import CommentKeeper
from bot.dashboard.access import Access
from bot.dashboard.data import Data
from bot.dashboard.pages import Dashboard
from bot.dashboard.session import Sessions
from bot.dashboard.sign_in import SignIn
from bot.digest.keeping import DIGEST_EVERY, keep_digests
from bot.doctor import Wanted
from bot.errors import SettingsError
from bot.events import RepositorySummary
from bot.feedback.turn import FEEDBACK_EVERY, look_at_feedback
from bot.github.client import GitHub
from bot.github.pacing import SHARED, SharedPacer
from bot.github.repo import RepoClient
from bot.index import Index, TextAnalyser
from bot.index.backfill import Backfills, Progress
from bot.index.embedding import Embedder, choose_embedder
from bot.indexing import LOOK_EVERY, Indexing, StoredFacts
from bot.issue_forms import IssueForms
from bot.jobs import Chore, DeadLetters, Inbox, Job, ensure_schema
from bot.jobs.arrivals import has_arrived
from bot.matching import Matcher, Model, shipped_model
from bot.mcp.tools import AskAll, Tools
from bot.metrics import CALLS
from bot.model import RepoRef
from bot.reconciliation import RECONCILE_EVERY, reconcile
from bot.redelivery import RECOVER_EVERY, recover
from bot.render.links import pages_of
from bot.repository_settings import Loaded, RepositorySettings
from bot.router import Router
from bot.scanning.asking import Asker
from bot.scanning.filling import OwnSteps, fill
from bot.scanning.model import Result
from bot.scanning.processes import ask_in_processes
from bot.scanning.scan import Scan
from bot.services import Services
from bot.settings import Settings
from bot.setup.credentials import Credentials, credentials_file, keep_credentials
from bot.setup.pages import SetUp
from bot.store import Store, StoredRepository, open_store
from bot.store.budgets import Budgets
from bot.store.missed import MissedDeliveries
from bot.store.tokens import SealedTokens
from bot.tracing import span
from bot.work import current, working_on
from handlers import ROUTES
from handlers.closing import CLOSE_EVERY, call_for_due

log = logging.getLogger(__name__)


def now() -> datetime:
    """The clock of a real process, in the host's zone."""
    return datetime.now().astimezone()


def prepare_databases(settings: Settings) -> None:
    """Bring the schemas of store and queue up to date; safe while others do the same."""
    open_store(settings).close()
    ensure_schema(settings)


def build_github(settings: Settings, store: Store | None = None) -> GitHub:
    """The door to GitHub; speaking as the App needs its id and key. With a `store` processes share what they know."""
    shared = SealedTokens(store.engine, settings.private_key) if store and settings.private_key else None
    budgets = Budgets(store.engine, SHARED) if store else None
    return GitHub(
        app_id=settings.app_id,
        private_key=settings.private_key,
        api_url=settings.github_api_url,
        api_version=settings.github_api_version,
        memory=store.etags if store else None,
        shared_tokens=shared,
        new_pacer=(lambda account: SharedPacer(monotonic, partial(budgets.take, account))) if budgets else None,
    )


def build_services(settings: Settings) -> Services:
    """What every handler is given, for a process that speaks as the App."""
    settings.require_app()
    store, inbox = open_store(settings), Inbox(settings)
    index = build_index(settings, store)
    return Services(
        settings=settings,
        github=build_github(settings, store),
        store=store,
        repository_settings=RepositorySettings(store, now),
        issue_forms=IssueForms(store, now),
        comments=CommentKeeper(store.comments, settings.app_id or 0, now),
        inbox=inbox,
        index=index,
        indexing=Indexing(index, store, inbox, now),
        matcher=Matcher(index),
        clock=now,
    )


def build_index(settings: Settings, store: Store) -> Index:
    """The index of a store, with the model that the host has chosen."""
    model = embedder(settings)
    facts = StoredFacts(
        store,
        RepositorySettings(store, now),
        IssueForms(store, now),
        remote=model is not None and model.remote,
        private_too=settings.remote_text == "all",
    )
    return Index(store.engine, TextAnalyser(), model, facts)


@contextmanager
def complete_index(settings: Settings, repo_id: int) -> Iterator[Matcher | None]:
    """What finds in this host's index of a repository; None where it is not complete.

    Nothing is created where this host has no database.
    """
    with _store_there(settings) as store:
        if store is None or not _is_complete(store, repo_id):
            yield None
        else:
            yield Matcher(build_index(settings, store))


@contextmanager
def open_scan(settings: Settings, repo_id: int, closed: bool) -> Iterator[tuple[Scan, AskAll] | None]:
    """The scan of a repository's backlog, with `closed` of closed issues too, and what asks about many issues.

    None where this host's index of the repository is not complete; nothing is created where it has no database.
    """
    with _store_there(settings) as store:
        if store is None or not _is_complete(store, repo_id):
            yield None
        else:
            make = partial(build_asker, settings)
            ask = partial(ask_in_processes, make, repo_id, processes=os.cpu_count() or 1)
            yield Scan(store, build_asker(settings, store=store), repo_id, closed=closed), ask


def known_bar(settings: Settings, repo: RepoRef) -> Bar | None:
    """The bar in force in a repository, from what this host has stored of it; None where that is nothing."""
    with _store_there(settings) as store:
        known = store.repositories.by_name(repo) if store else None
        if store is None or known is None:
            return None
        config = RepositorySettings(store, now).last_read(known.id)
        return bar_in_force(config, Calibrations(store.engine).get(known.id))


@contextmanager
def _store_there(settings: Settings) -> Iterator[Store | None]:
    """The store, as long as it is asked; None where this host has none yet."""
    if settings.database_url.startswith("sqlite:///") and not Path(settings.database_url[10:]).exists():
        yield None
        return
    with closing(open_store(settings)) as store:
        yield store


def _is_complete(store: Store, repo_id: int) -> bool:
    progress = Backfills(store.engine).get(repo_id)
    return progress is not None and progress.done


def fill_index(
    settings: Settings,
    store: Store,
    repo: RepoRef,
    sleep: Callable[[float], None],
    tell: Callable[[Progress], None],
) -> tuple[RepositorySummary, Progress | None]:
    """Read a repository's issues into the index of a store, for the command line; `bot.scanning.filling` says more."""
    github = build_github(settings, store)
    try:
        client = reader(settings, github, repo)
        found = client.repository(repo)
        summary = RepositorySummary(found.id, found.ref, found.private, found.archived)
        store.repositories.upsert(summary, None, now().timestamp())
        steps = OwnSteps()
        indexing = Indexing(build_index(settings, store), store, steps, now)
        forms, progress = IssueForms(store, now), Backfills(store.engine)
        reached = fill(indexing, steps, forms, progress, client, summary, chain="by hand", sleep=sleep, tell=tell)
        return summary, reached
    finally:
        github.close()


def build_asker(settings: Settings, weights: str | None = None, store: Store | None = None) -> Asker:
    """What asks about issues of the backlog, with a store of its own where none is given (in a process of its own).

    `weights` are the text of other ones than Doppel comes with. Raises ValueError, KeyError or TypeError where they are
    none.
    """
    model = shipped_model() if weights is None else Model.parse(weights)
    return Asker(build_index(settings, store or open_store(settings)), model)


def embedder(settings: Settings) -> Embedder | None:
    """The model that the host has chosen; nothing is loaded yet."""
    return choose_embedder(settings.embedding_model, settings.embedding_url, settings.embedding_key)


def wanted() -> Wanted:
    """What the App must have been granted on GitHub."""
    return Wanted(manifest.permissions(ROUTES), manifest.events(ROUTES))


def job_handler(services: Services) -> Callable[[Job], None]:
    """What the worker does with a job: route its event to the feature that handles it."""
    router = Router(ROUTES)
    counts = CallCounts(services.github.tracker, lambda who, times: CALLS.labels(who).inc(times))

    def handle(job: Job) -> None:
        name = f"{job.event.name}.{job.event.action}".rstrip(".")
        with working_on(replace(current(), job=name)), span(name):
            try:
                router.dispatch(job.event, replace(services, arrived=job.arrived))
            finally:
                counts.flush()

    return handle


def chores(services: Services) -> tuple[Chore, ...]:
    """What the workers do without being told by a delivery."""
    return (
        Chore("reconcile", RECONCILE_EVERY, partial(reconcile, services)),
        Chore("look again", LOOK_EVERY, services.indexing.look_again),
        Chore(
            "recover", RECOVER_EVERY, partial(recover, services, MissedDeliveries(services.store.engine)), at_start=True
        ),
        Chore("feedback", FEEDBACK_EVERY, partial(look_at_feedback, services)),
        Chore("close", CLOSE_EVERY, partial(call_for_due, services)),
        Chore("digest", DIGEST_EVERY, partial(keep_digests, services)),
    )


def reader(settings: Settings, github: GitHub, repo: RepoRef) -> RepoClient:
    """A client that can read `repo`: as the App where one is set up, else with `GITHUB_TOKEN`.

    Raises SettingsError where there is neither, NotFound where the App is not installed on it.
    """
    if settings.app_id and settings.private_key:
        return github.installation(github.app().installation_of(repo))
    if settings.github_token:
        return github.user(settings.github_token)
    raise SettingsError(
        "APP_ID with PRIVATE_KEY or PRIVATE_KEY_PATH, or GITHUB_TOKEN: none is set, and GitHub wants to know who asks."
    )


def build_setup(settings: Settings) -> SetUp:
    """What the set-up page works with; the App's name is asked for once."""
    stored = credentials_file(settings.home)

    def convert(code: str, api_url: str, proxy_url: str) -> Credentials:
        with closing(GitHub(api_url=api_url, api_version=settings.github_api_version)) as github:
            made = github.registration().convert_manifest(code)
        return Credentials(
            app_id=made.id,
            slug=made.slug,
            private_key=made.private_key,
            webhook_secret=made.webhook_secret,
            client_id=made.client_id,
            client_secret=made.client_secret,
            api_url=api_url,
            proxy_url=proxy_url,
        )

    return SetUp(
        token=settings.setup_token,
        github=settings.github_api_url,
        channel=settings.webhook_proxy_url,
        permissions=manifest.permissions(ROUTES),
        events=manifest.events(ROUTES),
        convert=convert,
        keep=partial(keep_credentials, settings.home),
        slug_of_app=None if settings.new else cache(lambda: build_github(settings).app().get_app().slug),
        arrived=lambda: has_arrived(settings, stored.stat().st_mtime if stored.exists() else 0.0),
    )


def build_dashboard(settings: Settings) -> Dashboard:
    """What the dashboard works with. The database is not touched before the first page."""
    github = build_github(settings)

    def may_triage(repository: StoredRepository, login: str) -> bool:
        client = github.installation(repository.installation or 0, repository_ids=(repository.id,))
        return client.permission(repository.ref, login).triage

    @cache
    def data() -> Data:
        store = open_store(settings)
        read = RepositorySettings(store, now)

        def settings_of(repository: StoredRepository) -> Loaded:
            return read.read(
                lambda repo_id: github.installation(repository.installation or 0, repository_ids=(repo_id,)),
                repository.summary,
            )

        def groups_of(repository: StoredRepository) -> Result | None:
            if not _is_complete(store, repository.id):
                return None
            return Scan(store, build_asker(settings, store=store), repository.id).result()

        return Data(store, build_index(settings, store), DeadLetters(settings), settings_of, groups_of, now)

    web = pages_of(settings.github_api_url)
    return Dashboard(
        sign_in=SignIn(web, settings.client_id, settings.client_secret, github.visitor),
        sessions=Sessions(settings.client_secret),
        access=Access(may_triage, monotonic),
        data=data,
        web=web,
    )


def agent_tools(settings: Settings) -> Tools:
    """What `doppel mcp` serves, for repositories that `reader` can read."""
    github = build_github(settings)
    return Tools(
        partial(reader, settings, github),
        open_index=partial(complete_index, settings),
        open_scan=partial(open_scan, settings),
        tracker=get_tool_call_tracker(),
        clock=now,
        default=RepoRef.parse(settings.default_repository) if settings.default_repository else None,
        workflow_field=settings.workflow_field,
    )
