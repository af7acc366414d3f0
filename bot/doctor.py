"""What `doppel doctor` looks at, one check after the other: each says how it is, and how to mend what is not well."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

import sqlalchemy as sa

from bot.errors import Forbidden, GitHubError, Retryable
from bot.github.app import AppClient
from bot.settings import Settings

# GitHub refuses a signed token whose times are off by more than a minute.
MOST_SKEW_SECONDS = 30
SHORTEST_SECRET = 16
_RANK = {"read": 1, "write": 2, "admin": 3}


class Health(StrEnum):
    """How a check went. A warning does not keep Doppel from working."""

    WELL = "ok"
    WARNING = "warning"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's report; `mend` says what to do and is empty where nothing need be done."""

    health: Health
    subject: str
    says: str
    mend: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the App must have been granted, as app.yml asks for it."""

    permissions: Mapping[str, str]
    events: frozenset[str]


def examine(
    settings: Settings, wanted: Wanted, app: Callable[[], AppClient], prepare: Callable[[], None]
) -> Iterator[Finding]:
    """Look at everything, one finding at a time. `prepare` brings the databases up to date or raises."""
    yield from _credentials(settings)
    yield _database(settings, prepare)
    if settings.app_id and settings.private_key:
        yield from _github(settings, wanted, app())


def _credentials(settings: Settings) -> Iterator[Finding]:
    for name, value, where in (
        ("APP_ID", settings.app_id, "the number on the App's page on GitHub"),
        (
            "PRIVATE_KEY",
            settings.private_key,
            "generate a key on the App's page, and name its file in PRIVATE_KEY_PATH",
        ),
    ):
        if value:
            yield Finding(Health.WELL, name, "set")
        else:
            yield Finding(Health.BROKEN, name, "not set", f"Set it: {where}.")
    if not settings.webhook_secrets:
        mend = "Choose a long random text, and enter it here and on the App's page."
        yield Finding(Health.BROKEN, "WEBHOOK_SECRET", "not set, so that nothing can be accepted", mend)
    elif min(map(len, settings.webhook_secrets)) < SHORTEST_SECRET:
        mend = f"Choose one of at least {SHORTEST_SECRET} characters; WEBHOOK_SECRET_PREVIOUS bridges the change."
        yield Finding(Health.WARNING, "WEBHOOK_SECRET", "short enough to be guessed", mend)
    else:
        yield Finding(Health.WELL, "WEBHOOK_SECRET", "set")


def _database(settings: Settings, prepare: Callable[[], None]) -> Finding:
    shown = sa.make_url(settings.database_url).render_as_string(hide_password=True)
    try:
        prepare()
    except (sa.exc.SQLAlchemyError, OSError, Retryable) as problem:
        mend = "Check DATABASE_URL, or that DOPPEL_HOME can be written."
        return Finding(Health.BROKEN, "database", f"{shown} cannot be used ({type(problem).__name__})", mend)
    return Finding(Health.WELL, "database", f"{shown} can be written and is up to date")


def _github(settings: Settings, wanted: Wanted, app: AppClient) -> Iterator[Finding]:
    try:
        info = app.get_app()
    except Forbidden as refusal:
        mend = "Id and key must belong to the same App, and the key must not have been deleted on its page."
        yield Finding(Health.BROKEN, "GitHub", f"refuses the App's id and key ({refusal.status})", mend)
        return
    except (GitHubError, Retryable) as problem:
        mend = "Check GITHUB_API_URL and the way out of this machine (HTTPS_PROXY)."
        yield Finding(Health.BROKEN, "GitHub", f"{settings.github_api_url} cannot be reached: {problem}", mend)
        return
    yield Finding(Health.WELL, "GitHub", f"{settings.github_api_url} knows us as {info.bot_login}")
    skew = app.clock_skew() or 0.0
    if abs(skew) > MOST_SKEW_SECONDS:
        yield Finding(Health.WARNING, "clock", f"{skew:+.0f} s from GitHub's", "Let the machine keep its time (NTP).")
    yield from _granted(wanted, info.permissions, info.events)
    yield _hook(app)
    yield from _installations(app, wanted)


def _granted(wanted: Wanted, permissions: Mapping[str, str], events: object) -> Iterator[Finding]:
    lacking = lacks(wanted.permissions, permissions)
    if lacking:
        mend = "Change the App's permissions on its page; each installation must then accept them."
        yield Finding(Health.BROKEN, "permissions", f"the App lacks {', '.join(lacking)}", mend)
    else:
        yield Finding(Health.WELL, "permissions", "all that are needed")
    missing = sorted(wanted.events - set(events if isinstance(events, (list, tuple)) else ()))
    if missing:
        mend = "Subscribe to them on the App's page, under Permissions & events."
        yield Finding(Health.BROKEN, "events", f"the App does not get {', '.join(missing)}", mend)
    else:
        yield Finding(Health.WELL, "events", "all that are needed")


def lacks(wanted: Mapping[str, str], granted: Mapping[str, str]) -> list[str]:
    """The permissions of `wanted` that `granted` does not give, as `issues: write`."""
    return [
        f"{name}: {level}"
        for name, level in sorted(wanted.items())
        if _RANK.get(granted.get(name, ""), 0) < _RANK[level]
    ]


def _hook(app: AppClient) -> Finding:
    hook = app.hook_config()
    if not hook.url:
        return Finding(
            Health.BROKEN, "webhook", "GitHub delivers nowhere", "Enter https://YOUR-HOST/webhook on the App's page."
        )
    failures = sum(1 for _ in app.deliveries(status="failure", most=100))
    if failures:
        mend = "See Advanced on the App's page for what was answered; redeliver there once it is mended."
        return Finding(Health.WARNING, "webhook", f"{failures} deliveries to {hook.url} failed lately", mend)
    return Finding(Health.WELL, "webhook", f"GitHub delivers to {hook.url}")


def _installations(app: AppClient, wanted: Wanted) -> Iterator[Finding]:
    installations = app.installations()
    if not installations:
        yield Finding(Health.WARNING, "installations", "none yet", "Install the App from its page on a repository.")
    for installation in installations:
        subject = f"installation on {installation.account}"
        if installation.suspended:
            yield Finding(Health.WARNING, subject, "suspended", "Its owner can resume it under Settings, Applications.")
        elif lacking := lacks(wanted.permissions, installation.permissions):
            mend = "Its owner must accept the new permissions under Settings, Applications."
            yield Finding(Health.BROKEN, subject, f"has not granted {', '.join(lacking)}", mend)
        else:
            yield Finding(Health.WELL, subject, "active")
