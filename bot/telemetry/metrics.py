"""Everything that is measured: each metric with its name, its meaning and its labels.

prometheus_client adds up what the processes of a machine count, in the folder `PROMETHEUS_MULTIPROC_DIR`
(`bot/telemetry/counts.py`). Labels are words of this program: never the name of a repository, a person or an
installation, nor anything that an issue says.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

REGISTRY = CollectorRegistry()

# From a request that GitHub answers at once to one that used up the patience of `bot.github`.
_REQUEST = (0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
# From an idle worker to one that comes back after an outage.
_COMMENT = (0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)

DELIVERIES = Counter(
    "doppel_deliveries",
    "Requests to /webhook: accepted, known (redelivered), ignored, pong, refused, or failed for want of the queue.",
    ["outcome"],
    registry=REGISTRY,
)
UNKNOWN_EVENTS = Counter(
    "doppel_unknown_events",
    "Signed deliveries of events that Doppel does not read; other: GitHub's manual does not name it.",
    ["event"],
    registry=REGISTRY,
)
JOBS = Counter(
    "doppel_jobs",
    "Runs of jobs: done, refused, failed (comes again), dead (given up), waited (for an older one of its issue),"
    " overtaken (another worker does it).",
    ["outcome"],
    registry=REGISTRY,
)
GITHUB_REQUESTS = Counter(
    "doppel_github_requests",
    "Requests to GitHub by kind, and what came back: ok, unchanged (304), refused, limited, failed, unanswered.",
    ["kind", "result"],
    registry=REGISTRY,
)
GITHUB_SECONDS = Histogram(
    "doppel_github_request_seconds",
    "How long GitHub took to answer, by kind of request.",
    ["kind"],
    registry=REGISTRY,
    buckets=_REQUEST,
)
GITHUB_REMAINING = Gauge(
    "doppel_github_remaining",
    "Requests left until GitHub's next period, as it said last.",
    ["resource"],
    registry=REGISTRY,
    multiprocess_mode="mostrecent",
)
FIND_SECONDS = Histogram(
    "doppel_find_seconds",
    "How long it took to look for earlier reports of one issue, GitHub's searches included.",
    registry=REGISTRY,
    buckets=_REQUEST,
)
FINDS = Counter("doppel_finds", "Looks for earlier reports, by outcome.", ["outcome"], registry=REGISTRY)
COMMENT_SECONDS = Histogram(
    "doppel_comment_seconds",
    "From the acceptance of a delivery to the new comment that it caused.",
    registry=REGISTRY,
    buckets=_COMMENT,
)
COMMENTS = Counter(
    "doppel_comments",
    "Advisory comments and replies: posted, edited, deleted, unchanged, or silent (nothing to say).",
    ["what"],
    registry=REGISTRY,
)
CALLS = Counter(
    "doppel_remembered_calls",
    "Reads of GitHub that a thread may remember, by who answered.",
    ["from"],
    registry=REGISTRY,
)
CACHE = Counter(
    "doppel_conditional_requests",
    "Reads of GitHub that can be asked conditionally: hit where what was kept is still true.",
    ["result"],
    registry=REGISTRY,
)
SHADOW = Counter(
    "doppel_shadow",
    "Issues looked at in shadow mode, by whether there was something to say.",
    ["was"],
    registry=REGISTRY,
)

JUDGE_CALLS = Counter(
    "doppel_judge_calls",
    "Questions to the judge: answered, unusable, unreached, kept (known already), or not asked: budget, paused.",
    ["outcome"],
    registry=REGISTRY,
)
JUDGE_SECONDS = Histogram(
    "doppel_judge_seconds", "How long the judge took to answer, or to fail.", registry=REGISTRY, buckets=_REQUEST
)
JUDGE_TOKENS = Counter("doppel_judge_tokens", "Tokens sent to the judge and written by it.", ["way"], registry=REGISTRY)
JUDGE_COST = Counter(
    "doppel_judge_cost", "What that cost, by DOPPEL_JUDGE_PRICE_IN and _OUT and in their money.", registry=REGISTRY
)

# What is there from the start, at nought, so that a rate can be told from the first event on.
for _metric, _values in (
    (DELIVERIES, ("accepted", "known", "ignored", "pong", "refused", "failed")),
    (JOBS, ("done", "refused", "failed", "dead", "waited", "overtaken")),
    (FINDS, ("found", "none", "inconclusive", "degraded")),
    (COMMENTS, ("posted", "edited", "deleted", "unchanged", "silent")),
    (CALLS, ("memory", "github")),
    (CACHE, ("hit", "miss")),
    (SHADOW, ("found", "silent")),
    (JUDGE_CALLS, ("answered", "unusable", "unreached", "kept", "budget", "paused")),
    (JUDGE_TOKENS, ("in", "out")),
):
    for _value in _values:
        _metric.labels(_value)
