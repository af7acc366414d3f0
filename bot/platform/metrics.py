"""Metrics that processes count. `bot/interfaces/monitoring/` combines these, and reads other metrics from databases.

Labels are this program's own words: never a repository, person or installation, nor anything from an issue.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

REGISTRY = CollectorRegistry()

# Buckets in seconds, for requests, finds and the judge. The last is `bot.github`'s timeout.
_REQUEST = (0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
# The last buckets are for comments after an outage.
_COMMENT = (0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)


def _counter(name: str, description: str, label: str, *values: str) -> Counter:
    """A counter with one label. Each of its `values` starts at zero, so that even the first event shows in a rate."""
    counter = Counter(name, description, [label], registry=REGISTRY)
    for value in values:
        counter.labels(value)
    return counter


DELIVERIES = _counter(
    "doppel_deliveries",
    "Requests to /webhook: accepted, known (redelivered), ignored, pong, refused, or failed (queue unavailable).",
    "outcome",
    *("accepted", "known", "ignored", "pong", "refused", "failed"),
)
JOBS = _counter(
    "doppel_jobs",
    "Runs of jobs: done, refused, failed (comes again), dead (given up), overtaken (another worker does it).",
    "outcome",
    *("done", "refused", "failed", "dead", "overtaken"),
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
    "Requests left in GitHub's current period, as GitHub last reported.",
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
FINDS = _counter(
    "doppel_finds", "Outcomes of searches for earlier reports.", "outcome", "found", "none", "inconclusive", "degraded"
)
COMMENT_SECONDS = Histogram(
    "doppel_comment_seconds",
    "From the acceptance of a delivery to the new comment that it caused.",
    registry=REGISTRY,
    buckets=_COMMENT,
)
COMMENTS = _counter(
    "doppel_comments",
    "Advisory comments and replies: posted, edited, deleted, unchanged, or silent (nothing to say).",
    "what",
    *("posted", "edited", "deleted", "unchanged", "silent"),
)
CALLS = Counter(
    "doppel_remembered_calls",
    "Reads of GitHub that may be answered from memory, by operation, and by whether GitHub or the memory answered.",
    ["tool", "from"],
    registry=REGISTRY,
)
CACHE = _counter(
    "doppel_conditional_requests",
    "Cacheable reads from GitHub: hit (304, the cached answer is current) or miss.",
    "result",
    *("hit", "miss"),
)
SHADOW = _counter(
    "doppel_shadow",
    "Issues looked at in shadow mode, by whether there was something to say.",
    "was",
    *("found", "silent"),
)
JUDGE_CALLS = _counter(
    "doppel_judge_calls",
    "Judge questions: answered, unusable, unreached, kept (known before); not asked: budget, paused.",
    "outcome",
    *("answered", "unusable", "unreached", "kept", "budget", "paused"),
)
JUDGE_SECONDS = Histogram(
    "doppel_judge_seconds", "How long the judge took to answer, or to fail.", registry=REGISTRY, buckets=_REQUEST
)
JUDGE_TOKENS = _counter("doppel_judge_tokens", "Tokens sent to the judge and written by it.", "way", "in", "out")
JUDGE_COST = Counter(
    "doppel_judge_cost", "Cost of the tokens, in the currency of the configured prices.", registry=REGISTRY
)
