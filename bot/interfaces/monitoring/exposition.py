"""Makes the page for Prometheus: the counters of this machine's processes, and the state of queue, index and store.

prometheus_client writes the text, in Prometheus's format or OpenMetrics, as the request's `Accept` header prefers.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from types import SimpleNamespace

import sqlalchemy as sa
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector

from bot.deliveries.database import BACKGROUND_QUEUE, QUEUE, REPLAY_QUEUE, WORKERS, jobs, named_failures, state
from bot.deliveries.dead_letters import is_dead
from bot.deliveries.queue import LEASE
from bot.domain.feedback import FeedbackKind
from bot.platform.counts import FOLDER_VARIABLE
from bot.platform.metrics import REGISTRY
from bot.quality.illness import Illness, count_by_illness
from bot.search.matching.weights import shipped_text
from bot.storage.engine import database_time
from bot.storage.schema import index_states, signals, verdicts

_QUEUES = (QUEUE, BACKGROUND_QUEUE, REPLAY_QUEUE)


@dataclass(frozen=True, slots=True)
class QueueState:
    """The state of the queue, without the workers' scheduled tasks.

    `jobs` counts jobs by queue and state. `ages` has the age in seconds of the oldest job, by queue and state. The
    states are `waiting`, `delayed` (until a time), `again` (delayed after a failure) and `running`. `dead` counts dead
    letters. `workers` counts workers with a valid lease.
    """

    jobs: Mapping[tuple[str, str], int]
    ages: Mapping[tuple[str, str], float]
    dead: int
    workers: int
    heartbeat: float | None  # The newest lease's age in seconds; None without a worker.

    def longest(self, queue: str) -> float:
        """The age in seconds of the oldest job that waits for its turn or for another try."""
        return max(self.ages[queue, "waiting"], self.ages[queue, "again"])


def read_queue_state(engine: sa.Engine) -> QueueState:
    """Read the state from the queue's database, whose table must exist. Raises QueueUnavailable."""
    now = database_time(engine)
    # The column `state` says `waiting` for three of the states; time and failures tell them apart.
    derived_state = sa.case(
        (jobs.c.state == "running", "running"),
        (jobs.c.run_after <= now, "waiting"),
        (jobs.c.attempts == 0, "delayed"),
        else_="again",
    )
    unfinished = (
        sa.select(jobs.c.queue, derived_state, sa.func.count(), now - sa.func.min(jobs.c.arrived_at))
        .where(state("waiting", "running"), jobs.c.queue.in_(_QUEUES))
        .group_by(jobs.c.queue, derived_state)
    )
    with named_failures(), engine.connect() as connection:
        rows = connection.execute(unfinished).all()
        dead = connection.execute(sa.select(sa.func.count()).where(is_dead())).scalar_one()
    counts = {(queue, name): 0 for queue in _QUEUES for name in ("waiting", "delayed", "running", "again")}
    ages = dict.fromkeys(counts, 0.0)
    for queue, name, count, age in rows:
        counts[queue, name], ages[queue, name] = count, max(0.0, age)
    beats = heartbeats(engine)
    alive = sum(age <= LEASE for age in beats)
    return QueueState(counts, ages, dead, alive, min(beats, default=None))


def heartbeats(engine: sa.Engine) -> list[float]:
    """How many seconds ago each worker renewed its lease. Raises QueueUnavailable."""
    # A lease ends LEASE seconds after its renewal.
    age = database_time(engine) - (jobs.c.lease_until - LEASE)
    with named_failures(), engine.connect() as connection:
        ages = connection.execute(sa.select(age).where(state("running"), jobs.c.queue == WORKERS)).scalars()
        return [max(0.0, age) for age in ages]


# Without the commands `not` and `of`, which are counted as verdicts.
_FEEDBACK_KINDS = [kind for kind in FeedbackKind if kind not in (FeedbackKind.NOT, FeedbackKind.OF)]


def page(
    store: sa.Engine, queue: sa.Engine, ill: Mapping[int, Illness], vectors: str, accept: str
) -> tuple[bytes, str]:
    """The page as the header `Accept` prefers it, and its content type. `vectors` names the embedding model.

    `ill` are the repositories where the bot fails (`bot.quality.illness`). Raises QueueUnavailable and SQLAlchemyError.
    """
    ill_metric = GaugeMetricFamily(
        "doppel_repositories_ill", "Repositories in which the bot is ill, by reason.", labels=["why"]
    )
    for reason, count in count_by_illness(ill).items():
        ill_metric.add_metric([reason], count)
    model = InfoMetricFamily(
        "doppel_model",
        "The program's version, the embedding model's name and the weights' hash.",
        value={
            "version": metadata.version("doppel"),
            "vectors": vectors,
            "weights": hashlib.sha256(shipped_text().encode()).hexdigest()[:12],
        },
    )
    processes = process_metrics().collect()
    metrics = [*processes, *of_queue(read_queue_state(queue)), *_of_store(store), ill_metric, model]
    encode, content_type = choose_encoder(accept)
    # The encoders take a registry, but call only its method `collect`.
    return encode(SimpleNamespace(collect=lambda: metrics)), content_type


def process_metrics() -> CollectorRegistry:
    """The metrics of all processes that share the folder of counts, or else of this process."""
    if FOLDER_VARIABLE not in os.environ:
        return REGISTRY
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry


def remembered_calls() -> dict[str, dict[str, int]]:
    """For each operation with a cache (label `tool`), how often the cache and how often GitHub answered (T7)."""
    found: dict[str, dict[str, int]] = {}
    samples = (sample for metric in process_metrics().collect() for sample in metric.samples)
    for sample in samples:
        if sample.name == "doppel_remembered_calls_total":
            found.setdefault(sample.labels["tool"], {})[sample.labels["from"]] = int(sample.value)
    return dict(sorted(found.items()))


def of_queue(status: QueueState) -> Iterator[Metric]:
    jobs_in_queue = GaugeMetricFamily("doppel_queue_jobs", "Jobs in the queue.", labels=["queue", "state"])
    for labels, count in status.jobs.items():
        jobs_in_queue.add_metric(labels, count)
    oldest = GaugeMetricFamily(
        "doppel_queue_oldest_seconds",
        "The age of the oldest job that waits for its turn or for another try.",
        labels=["queue"],
    )
    for queue in dict.fromkeys(queue for queue, _ in status.ages):
        oldest.add_metric([queue], status.longest(queue))
    yield jobs_in_queue
    yield oldest
    yield GaugeMetricFamily("doppel_dead_letters", "Deliveries that were given up (doppel jobs).", value=status.dead)
    yield GaugeMetricFamily("doppel_workers", "Worker processes with a fresh heartbeat.", value=status.workers)
    if status.heartbeat is not None:
        yield GaugeMetricFamily(
            "doppel_worker_heartbeat_age_seconds", "How long ago the last worker was heard of.", value=status.heartbeat
        )


def _of_store(engine: sa.Engine) -> Iterator[Metric]:
    """Metrics of people's decisions and feedback, and of the index."""
    decided = sa.select(verdicts.c.kind, sa.func.count().label("times")).group_by(verdicts.c.kind)
    feedback = sa.select(signals.c.kind, signals.c.same, sa.func.count().label("times"))
    feedback = feedback.group_by(signals.c.kind, signals.c.same)
    indexed = sa.select(
        sa.func.count(),
        sa.func.coalesce(sa.func.sum(index_states.c.issues), 0),
        sa.func.coalesce(sa.func.sum(index_states.c.issues - index_states.c.vectors), 0),
    )
    with engine.connect() as connection:
        rows = connection.execute(decided.where(verdicts.c.undone_at.is_(None)))
        kinds = dict.fromkeys(("not", "of"), 0) | {row.kind: row.times for row in rows}
        feedback_rows = connection.execute(feedback).all()
        repositories, issues, no_vectors = connection.execute(indexed).one()
    decisions_metric = GaugeMetricFamily("doppel_verdicts", "People's current decisions, by kind.", labels=["kind"])
    for kind, count in kinds.items():
        decisions_metric.add_metric([kind], count)
    feedback_metric = GaugeMetricFamily(
        "doppel_feedback",
        "People's feedback other than commands, by kind and whether it calls the issues the same.",
        labels=["kind", "same"],
    )
    counts = {(str(kind), same): 0 for kind in _FEEDBACK_KINDS for same in (True, False)}
    counts |= {(row.kind, row.same): row.times for row in feedback_rows}
    for (kind, same), count in counts.items():
        feedback_metric.add_metric([kind, "yes" if same else "no"], count)
    yield decisions_metric
    yield feedback_metric
    yield GaugeMetricFamily("doppel_index_repositories", "Repositories with an index.", value=repositories)
    yield GaugeMetricFamily("doppel_index_issues", "Issues in the index.", value=int(issues))
    yield GaugeMetricFamily(
        "doppel_index_issues_without_vectors",
        "Issues in the index that have no vectors (yet).",
        value=int(no_vectors),
    )
