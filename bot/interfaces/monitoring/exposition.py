"""The page for Prometheus: what this machine's processes have counted, and how queue, index and database stand now.

The text is prometheus_client's, in Prometheus's own format or OpenMetrics, whichever is asked for.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import metadata, resources

import sqlalchemy as sa
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector

from bot.domain.feedback import FeedbackKind
from bot.interfaces.monitoring.queue import Standing, standing
from bot.platform.counts import FOLDER
from bot.platform.metrics import REGISTRY
from bot.platform.settings import Settings
from bot.quality.illness import counted as count_illnesses
from bot.quality.illness import illnesses
from bot.storage import Store
from bot.storage.schema import index_states, rejected_elsewhere, signals, verdicts

# The commands are verdicts, and are counted as such.
_SAID = [kind for kind in FeedbackKind if kind not in (FeedbackKind.NOT, FeedbackKind.OF)]


class Exposition:
    """Makes the page. Safe to share between threads."""

    def __init__(self, settings: Settings, store: sa.Engine, queue: sa.Engine) -> None:
        """Does not connect."""
        self._settings = settings
        self._store = store
        self._queue = queue

    def page(self, accept: str) -> tuple[bytes, str]:
        """The page and its content type, in the format that the `Accept` header wishes.

        Raises QueueUnavailable and SQLAlchemyError where the databases cannot be read.
        """
        encode, content_type = choose_encoder(accept)
        return encode(_Collected(self._metrics())), content_type

    def _metrics(self) -> Iterator[Metric]:
        yield from counted().collect()
        yield from of_queue(standing(self._queue))
        yield from _of_store(self._store)
        ill = GaugeMetricFamily(
            "doppel_repositories_ill", "Repositories in which the bot is ill, by why.", labels=["why"]
        )
        found = {} if self._settings.paused else illnesses(Store(self._store), self._queue, time.time())
        for reason, count in count_illnesses(found).items():
            ill.add_metric([reason], count)
        yield ill
        yield InfoMetricFamily(
            "doppel_model",
            "The program, the model of vectors, and the weights that judge.",
            value={
                "version": metadata.version("doppel"),
                "vectors": self._settings.embedding_model,
                "weights": weights_version(),
            },
        )


class _Collected:
    """What prometheus_client takes for a registry."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = list(metrics)

    def collect(self) -> list[Metric]:
        return self._metrics


def counted() -> CollectorRegistry:
    """What was counted: by all processes that share the folder of `bot/platform/counts.py`, else by this one."""
    if FOLDER not in os.environ:
        return REGISTRY
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry


def remembered() -> dict[str, dict[str, int]]:
    """For each operation that a thread may remember, how often memory and how often GitHub answered (T7)."""
    found: dict[str, dict[str, int]] = {}
    for metric in counted().collect():
        for sample in metric.samples if metric.name == "doppel_remembered_calls" else ():
            if sample.name.endswith("_total"):
                found.setdefault(sample.labels["tool"], {})[sample.labels["from"]] = int(sample.value)
    return dict(sorted(found.items()))


def of_queue(now: Standing) -> Iterator[Metric]:
    """How the queue stands."""
    jobs = GaugeMetricFamily("doppel_queue_jobs", "Jobs in the queue.", labels=["queue", "state"])
    for (queue, state), count in now.jobs.items():
        jobs.add_metric([queue, state], count)
    oldest = GaugeMetricFamily(
        "doppel_queue_oldest_seconds",
        "How long ago the job arrived that waits longest, for its turn or for another try.",
        labels=["queue"],
    )
    for queue in now.oldest:
        oldest.add_metric([queue], now.longest(queue))
    yield jobs
    yield oldest
    yield GaugeMetricFamily("doppel_dead_letters", "Deliveries that were given up (doppel jobs).", value=now.dead)
    yield GaugeMetricFamily("doppel_workers", "Worker processes with a fresh heartbeat.", value=now.workers)
    if now.heartbeat is not None:
        yield GaugeMetricFamily(
            "doppel_worker_heartbeat_age_seconds", "How long ago the last worker was heard of.", value=now.heartbeat
        )


def _of_store(engine: sa.Engine) -> Iterator[Metric]:
    """What people decided, and how far the index is."""
    decided = sa.select(verdicts.c.kind, sa.func.count().label("times")).group_by(verdicts.c.kind)
    # `not` about an issue of another repository has a table of its own.
    elsewhere = sa.select(sa.func.count()).where(rejected_elsewhere.c.undone_at.is_(None))
    told = sa.select(signals.c.kind, signals.c.same, sa.func.count().label("times"))
    told = told.group_by(signals.c.kind, signals.c.same)
    indexed = sa.select(
        sa.func.count(),
        sa.func.coalesce(sa.func.sum(index_states.c.issues), 0),
        sa.func.coalesce(sa.func.sum(index_states.c.issues - index_states.c.vectors), 0),
    )
    with engine.connect() as connection:
        rows = connection.execute(decided.where(verdicts.c.undone_at.is_(None)))
        kinds = dict.fromkeys(("not", "of"), 0) | {row.kind: row.times for row in rows}
        kinds["not"] += connection.execute(elsewhere).scalar_one()
        voices = connection.execute(told).all()
        repositories, issues, without = connection.execute(indexed).one()
    given = GaugeMetricFamily("doppel_verdicts", "Decisions of people that hold, by kind.", labels=["kind"])
    for kind, count in kinds.items():
        given.add_metric([kind], count)
    said = GaugeMetricFamily(
        "doppel_feedback",
        "What people say of what was shown, other than by a command: how, and whether it is the same.",
        labels=["kind", "same"],
    )
    voted = {(str(kind), same): 0 for kind in _SAID for same in (True, False)}
    for (kind, same), count in {**voted, **{(row.kind, row.same): row.times for row in voices}}.items():
        said.add_metric([kind, "yes" if same else "no"], count)
    yield given
    yield said
    yield GaugeMetricFamily("doppel_index_repositories", "Repositories with an index.", value=repositories)
    yield GaugeMetricFamily("doppel_index_issues", "Issues in the index.", value=int(issues))
    yield GaugeMetricFamily(
        "doppel_index_issues_without_vectors", "Issues in the index that have no vectors (yet).", value=int(without)
    )


@cache
def weights_version() -> str:
    """What tells one file of weights from another: the start of its SHA-256."""
    return hashlib.sha256((resources.files("bot.search.matching") / "weights.json").read_bytes()).hexdigest()[:12]
