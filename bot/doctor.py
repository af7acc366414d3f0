"""What `doppel doctor` looks at, one check after the other: each says how it is, and how to mend what is not well."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import sqlalchemy as sa

from bot.embedding import Embedder, EmbeddingError
from bot.errors import Forbidden, GitHubError, NotFound, Retryable
from bot.github.app import AppClient, Delivery
from bot.index import models
from bot.jobs.database import QUEUE, queue_url
from bot.jobs.job import QueueUnavailable
from bot.jobs.standing import standing
from bot.settings import Settings, WrongSettings
from bot.store import pgvector
from bot.store.engine import is_full, make_engine, write

# GitHub refuses a signed token whose times are off by more than a minute.
MOST_SKEW_SECONDS = 30
SHORTEST_SECRET = 16
REFUSED_SIGNATURE = 401
# A delivery that waits for longer is worth a word, as docs/watching.md has it for an alarm.
LONGEST_WAIT = 300.0
# Of the attempts of three days, for one look: ten requests.
MOST_READ = 1_000
# How long another process may hold the database before it counts as unusable.
PATIENCE_SECONDS = 5.0
_RANK = {"read": 1, "write": 2, "admin": 3}


class Health(StrEnum):
    """How a check went. A warning does not keep Doppel from working."""

    WELL = "ok"
    WARNING = "warning"
    BROKEN = "broken"


class _DiskFullError(OSError):
    """A database can be read, and even locked, but takes nothing more."""


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
    read: Callable[[], Settings],
    misspelt: Mapping[str, str],
    wanted: Wanted,
    app: Callable[[Settings], AppClient],
    model: Callable[[Settings], Embedder | None],
) -> Iterator[Finding]:
    """Look at everything, one finding at a time; nothing is changed, on this machine or on GitHub.

    `read` reads the settings, `misspelt` is what `bot.settings.misspelt` found, `app` makes the App's client and
    `model` the one that embeds texts, which is given a word to try.
    """
    yield from _misspelt(misspelt)
    try:
        settings = read()
    except WrongSettings as wrong:
        for problem in wrong.problems:
            name, _, says = problem.partition(": ")
            yield Finding(
                Health.BROKEN, name, says, "Mend this first; the rest is looked at once all settings are right."
            )
        return
    yield from _credentials(settings)
    if not settings.new:
        yield _dashboard(settings)
    yield from _databases(settings)
    yield from _at_work(settings)
    chosen = model(settings)
    yield _model(settings, chosen)
    yield from _models_of_others(settings, chosen)
    if settings.app_id and settings.private_key:
        yield from _github(settings, wanted, app(settings))


def _model(settings: Settings, model: Embedder | None) -> Finding:
    """Whether texts can be turned into vectors. Without that the index goes by words alone, and works."""
    if model is None:
        return Finding(Health.WELL, "model", "none is wanted: the index goes by words alone")
    try:
        dimensions = model.embed(["doppel"]).shape[1]
    except EmbeddingError as failure:
        mend = "Until then the index goes by words alone. Mend it, or see DOPPEL_EMBEDDING_MODEL in docs/config.md."
        return Finding(Health.WARNING, "model", str(failure), mend)
    goes = f"; texts of {settings.remote_text} repositories may go there" if model.remote else ""
    return Finding(Health.WELL, "model", f"{model.name} answers with {dimensions} dimensions{goes}")


def _models_of_others(settings: Settings, model: Embedder | None) -> Iterator[Finding]:
    """Whether workers that are running have other models: then only those find by meaning that have the latest."""
    try:
        engine = _engine(settings.database_url, settings.sqlite_synchronous)
        if engine is None:
            return
        try:
            with engine.connect() as connection:
                chosen = models.in_use(connection)
        finally:
            engine.dispose()
    except (sa.exc.SQLAlchemyError, OSError):
        # Not there yet, or away, of which another line tells.
        return
    if chosen.keys() - {model.name if model else ""}:
        latest = max(chosen, key=lambda name: chosen[name])
        says = f"workers have {' and '.join(sorted(chosen))}; those that have not {latest} find by words alone"
        mend = "Give all the same DOPPEL_EMBEDDING_MODEL and DOPPEL_EMBEDDING_URL, here too, and start them anew."
        yield Finding(Health.WARNING, "models of the workers", says, mend)


def _misspelt(names: Mapping[str, str]) -> Iterator[Finding]:
    for name, near in names.items():
        mend = f"Did you mean {near}?" if near else "Remove it, or see docs/config.md for the names that are read."
        yield Finding(Health.WARNING, name, "nothing reads a setting of this name", mend)


def _credentials(settings: Settings) -> Iterator[Finding]:
    if settings.new:
        mend = "`doppel serve` opens a page that creates one; for one that exists, set APP_ID, PRIVATE_KEY_PATH and "
        yield Finding(Health.BROKEN, "GitHub App", "none is set up yet", f"{mend}WEBHOOK_SECRET.")
        return
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


def _dashboard(settings: Settings) -> Finding:
    """Whether people can sign in. Without that there is no dashboard, and its address answers as any unknown one."""
    names = {"GITHUB_CLIENT_ID": settings.client_id, "GITHUB_CLIENT_SECRET": settings.client_secret}
    missing = [name for name, value in names.items() if not value]
    if not missing:
        return Finding(Health.WELL, "dashboard", "on, at /dashboard")
    if len(missing) == len(names):
        says = f"off; {' and '.join(names)} switch it on, as docs/dashboard.md says"
        return Finding(Health.WELL, "dashboard", says)
    return Finding(Health.WARNING, "dashboard", f"off, since {missing[0]} is not set", "Set it, or neither of the two.")


def _databases(settings: Settings) -> Iterator[Finding]:
    for subject, url in (("database", settings.database_url), ("queue", queue_url(settings))):
        shown = sa.make_url(url).render_as_string(hide_password=True)
        try:
            yield Finding(
                Health.WELL,
                subject,
                f"{shown} {_look_into(url, settings.sqlite_synchronous, index=subject == 'database')}",
            )
        except _DiskFullError:
            mend = "Make room; Doppel need not be started anew. What waits is worked on then."
            yield Finding(Health.BROKEN, subject, f"{shown} cannot be written: its disk is full", mend)
        except (sa.exc.SQLAlchemyError, OSError) as problem:
            mend = "Check DATABASE_URL, or that DOPPEL_HOME can be written."
            yield Finding(Health.BROKEN, subject, f"{shown} cannot be used ({type(problem).__name__})", mend)


def _look_into(url: str, synchronous: str, *, index: bool) -> str:
    """How a database is, in words; makes none. Raises SQLAlchemyError or OSError where it cannot be written.

    Of the queue, which may lie in the same one, it is not told how the `index` compares.
    """
    engine = _engine(url, synchronous)
    if engine is None:
        place = next(parent for parent in Path(sa.make_url(url).database or "").absolute().parents if parent.exists())
        if not os.access(place, os.W_OK | os.X_OK):
            raise PermissionError(f"{place} cannot be written")
        return "is not there yet; the first start makes it"
    try:
        with write(engine) as connection:
            read_only = connection.dialect.name != "sqlite" and connection.scalar(sa.text("SELECT pg_is_in_recovery()"))
            if read_only:
                raise PermissionError("the database is read-only")
            if is_full(engine):
                raise _DiskFullError
            extended = index and pgvector.is_prepared(connection)
    finally:
        engine.dispose()
    return "can be written, and compares vectors by pgvector" if extended else "can be written"


def _at_work(settings: Settings) -> Iterator[Finding]:
    """Whether somebody does what is taken, and whether something was given up; nothing before the first start."""
    engine = _engine(queue_url(settings), settings.sqlite_synchronous)
    if engine is None:
        return
    try:
        now = standing(engine)
    except QueueUnavailable:
        # Not there yet, or away, of which another line tells.
        return
    finally:
        engine.dispose()
    left = sum(count for (queue, _), count in now.jobs.items() if queue == QUEUE)
    if not now.workers:
        mend = "`doppel serve` starts one, or `doppel worker` where web and worker are started apart."
        heard = "none is running"
        if now.heartbeat is not None:
            heard = f"none has been heard of for {now.heartbeat:.0f} s"
            mend += " If one does run, the log says what keeps it from writing, such as a full disk."
        yield Finding(Health.WARNING, "worker", f"{heard}, and {left} deliveries are to be worked on", mend)
    elif now.oldest[QUEUE] > LONGEST_WAIT:
        says = f"behind: a delivery of {now.oldest[QUEUE] / 60:.0f} minutes ago waits, and {left} are to be worked on"
        yield Finding(Health.WARNING, "worker", says, "The log says what keeps it; see docs/operations.md, Sizing.")
    else:
        yield Finding(Health.WELL, "worker", f"{now.workers} running, {left} deliveries to be worked on")
    if now.dead:
        mend = "`doppel jobs` says why, and `doppel jobs retry` tries them again."
        yield Finding(Health.WARNING, "given up", f"{now.dead} deliveries", mend)


def _engine(url: str, synchronous: str) -> sa.Engine | None:
    """An engine that is soon out of patience; None for a file that is not there yet, and would be made."""
    if url.startswith("sqlite") and not Path(sa.make_url(url).database or "").exists():
        return None
    return make_engine(url, patience=PATIENCE_SECONDS, synchronous=synchronous)


def _github(settings: Settings, wanted: Wanted, app: AppClient) -> Iterator[Finding]:
    try:
        info = app.get_app()
    except (Forbidden, NotFound) as refusal:
        mend = (
            "Id and key must belong to one App, the key must not have been deleted on its page, and GITHUB_API_URL "
            "must be where the App is."
        )
        yield Finding(Health.BROKEN, "GitHub", f"refuses the App's id and key ({refusal.status})", mend)
        return
    except (GitHubError, Retryable) as problem:
        mend = (
            "Check GITHUB_API_URL and the way out of this machine (HTTPS_PROXY); a certificate authority of your own "
            "is named in SSL_CERT_FILE and REQUESTS_CA_BUNDLE."
        )
        yield Finding(Health.BROKEN, "GitHub", f"{settings.github_api_url} cannot be reached: {problem}", mend)
        return
    yield Finding(Health.WELL, "GitHub", f"{settings.github_api_url} knows us as {info.bot_login}")
    skew = app.clock_skew() or 0.0
    if abs(skew) > MOST_SKEW_SECONDS:
        yield Finding(Health.WARNING, "clock", f"{skew:+.0f} s from GitHub's", "Let the machine keep its time (NTP).")
    yield from _granted(wanted, info.permissions, info.events)
    yield _hook(settings, app)
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


def _hook(settings: Settings, app: AppClient) -> Finding:
    hook = app.hook_config()
    if not hook.url and settings.simulated:
        # The simulator is told by whoever serves, so that before that nothing is wrong.
        mend = "`doppel serve` enters its own address there when it starts."
        return Finding(Health.WARNING, "webhook", "the simulator delivers nowhere yet", mend)
    if not hook.url:
        where = settings.webhook_proxy_url and "the address that WEBHOOK_PROXY_URL has"
        mend = f"Enter {where or 'https://YOUR-HOST/webhook'} on the App's page."
        return Finding(Health.BROKEN, "webhook", "GitHub delivers nowhere", mend)
    if settings.webhook_proxy_url and hook.url.rstrip("/") != settings.webhook_proxy_url:
        mend = "Enter the channel's address on the App's page, or take WEBHOOK_PROXY_URL away."
        return Finding(Health.WARNING, "webhook", "GitHub does not deliver to the channel of WEBHOOK_PROXY_URL", mend)
    # Whoever knows a channel's address can listen to it.
    where = "the channel" if settings.webhook_proxy_url else hook.url
    if lost := _not_taken(app):
        return Finding(Health.WARNING, "webhook", *_why(lost, where))
    return Finding(Health.WELL, "webhook", f"GitHub delivers to {where}")


def _not_taken(app: AppClient) -> dict[str, Delivery]:
    """The last attempts of deliveries that failed lately and were not taken since, by GUID."""
    failed: dict[str, Delivery] = {}
    for attempt in app.deliveries(status="failure", most=100):
        failed.setdefault(attempt.guid, attempt)
    if not failed:
        return failed
    oldest = min(one.delivered_at for one in failed.values())
    for attempt in app.deliveries(status="success", most=MOST_READ):
        if attempt.delivered_at < oldest:
            break
        failed.pop(attempt.guid, None)
    return failed


def _why(lost: Mapping[str, Delivery], where: str) -> tuple[str, str]:
    """How many deliveries have failed and what was answered most, and how to mend that."""
    (code, _), *_ = Counter(one.status_code for one in lost.values()).most_common(1)
    says = f"{len(lost)} deliveries to {where} failed lately, {f'mostly with {code}' if code else 'without an answer'}"
    again = "What was missed is then asked for by itself, as docs/operations.md says (A delivery is lost)."
    if code == REFUSED_SIGNATURE:
        return says, f"WEBHOOK_SECRET here must be the secret on the App's page on GitHub. {again}"
    if code == 0:
        return says, f"GitHub must reach that address, and the web process must run there. {again}"
    return says, f"See Advanced on the App's page for what was answered, and the log for why. {again}"


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
