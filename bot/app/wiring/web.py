"""Builds the back ends of the set-up page and of the dashboard."""

from __future__ import annotations

import os
from contextlib import closing
from functools import cache, partial
from time import monotonic

from bot.app.wiring import manifest
from bot.app.wiring.clients import build_github, now
from bot.app.wiring.indexes import build_backlog_matcher, build_index
from bot.deliveries.dead_letters import DeadLetters
from bot.deliveries.inbox import Inbox, has_arrived
from bot.github.client import GitHub
from bot.interfaces.dashboard.data import DashboardData
from bot.interfaces.dashboard.routes import Dashboard
from bot.interfaces.dashboard.sign_in import Access, SignIn
from bot.interfaces.setup.registration import Credentials
from bot.interfaces.setup.routes import SetupBackend
from bot.platform.addresses import pages_of
from bot.platform.settings import Settings
from bot.platform.settings.loading import credentials_file
from bot.quality.scanning.groups import ScanResult
from bot.quality.scanning.scan import Scan
from bot.search.repository_settings import LoadedSettings, RepositorySettings
from bot.storage import StoredRepository, open_store
from handlers.repositories import erased_if_ended


def build_setup(settings: Settings) -> SetupBackend:
    """The back end of the set-up page; it asks GitHub for the App's name only once."""
    stored = credentials_file(settings.home)

    def convert(code: str, api_url: str, proxy_url: str) -> Credentials:
        with closing(GitHub(api_url=api_url, api_version=settings.github_api_version)) as github:
            return Credentials(github.convert_manifest(code), api_url, proxy_url)

    return SetupBackend(
        settings=settings,
        permissions=manifest.permissions(),
        events=manifest.events(),
        convert=convert,
        slug_of_app=None if settings.new else cache(lambda: build_github(settings).app().get_app().slug),
        # On Heroku, which sets DYNO, files do not last: the disk of a dyno is lost when the dyno stops.
        lasting="DYNO" not in os.environ,
        arrived=lambda: has_arrived(settings, since=stored.stat().st_mtime if stored.exists() else 0.0),
    )


def build_dashboard(settings: Settings) -> Dashboard:
    """The back end of the dashboard. The first request for data opens the database."""
    github = build_github(settings)

    def may_triage(repository: StoredRepository, login: str) -> bool:
        # `Access` asks only about repositories with a known installation. `or 0` is for the type checker.
        client = github.in_repository(repository.installation or 0, repository.id)
        return client.permission(repository.ref, login).triage

    # Two simultaneous first requests may make the data twice, which does no harm.
    @cache
    def data() -> DashboardData:
        store = open_store(settings)
        repository_settings = RepositorySettings(store, now, settings.mode)

        def settings_of(repository: StoredRepository) -> LoadedSettings:
            client_of = partial(github.in_repository, repository.installation or 0)
            with erased_if_ended(repository.id, store):  # The bot's access may end meanwhile.
                return repository_settings.read(client_of, repository.summary)

        def mode_of(repository: StoredRepository) -> str:
            return repository_settings.last_read(repository.id).mode

        def groups_of(repository: StoredRepository) -> ScanResult | None:
            if not store.backfills.complete(repository.id):
                return None
            return Scan(store, build_backlog_matcher(settings, store=store), repository.id).result()

        index = build_index(settings, store)
        return DashboardData(store, index, DeadLetters(settings), Inbox(settings), settings_of, mode_of, groups_of, now)

    return Dashboard(
        sign_in=SignIn(pages_of(settings.github_api_url), settings.client_id, settings.client_secret, github.visitor),
        access=Access(may_triage, monotonic),
        data=data,
    )
