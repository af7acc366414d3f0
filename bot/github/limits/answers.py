"""Decides by GitHub's answer whether a request is done, sent again or given up. Pure.

https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api has the rules: honour `retry-after`, else
`x-ratelimit-reset` if nothing remains, else wait at least a minute, and longer each time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any

from bot.moments import aware

RETRIES = 3
"""How often a repeatable request is repeated after GitHub failed."""

_FIRST_PAUSE, _LIMIT_PAUSE, _LONGEST_LIMIT_PAUSE = 0.5, 60.0, 960.0
# GitHub's longest window is an hour. A header that names years must not silence the bot for as long.
_LONGEST_STATED = 86_400.0
# `x-ratelimit-reset` and `Date` are whole seconds: a second more is never too early.
_ROUNDING = 1.0
_MENTIONS_LIMIT = re.compile(rb"rate.limit", re.IGNORECASE)
_TOO_QUICK = "was submitted too quickly"


@dataclass(frozen=True, slots=True)
class Answer:
    """GitHub's answer. `status` is 0 if there was none; header names are lower case.

    `body` matters for 403, 422 and 429, and for GraphQL, which reports limits with status 200 as well.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Ok:
    """Return the answer: a success, or a refusal that waiting cannot change."""


@dataclass(frozen=True, slots=True)
class Limit:
    """GitHub's "not now": for how many seconds, for which resource (None: everything), and whether it said how long."""

    after: float
    resource: str | None
    stated: bool


@dataclass(frozen=True, slots=True)
class Retry:
    """Ask again after so many seconds."""

    after: float
    limit: Limit | None = None


@dataclass(frozen=True, slots=True)
class Raise:
    """Give up for now, because of a rate `limit`, or because GitHub is out of order."""

    limit: Limit | None = None


Verdict = Ok | Retry | Raise


def decide(
    answer: Answer,
    *,
    attempt: int,
    repeatable: bool,
    patience: float,
    now: float,
    resource: str,
    strikes: int = 0,
    jitter: float = 0.0,
) -> Verdict:
    """Judge one answer.

    `attempt` counts the retries so far, `patience` the seconds left for this request, `strikes` the limits before this
    one that named no time. `now` is GitHub's time (seconds since 1970), `resource` the primary limit of the request;
    `jitter` in [0, 1) spreads the clients. `repeatable` says that sending it twice does no harm. GitHub did not carry
    out a request that it refused for a limit, so that may always be repeated; after another failure it may have.
    """
    if limit := find_limit(answer, now=now, resource=resource, strikes=strikes, jitter=jitter):
        if attempt < RETRIES and limit.after <= patience:
            return Retry(limit.after, limit)
        return Raise(limit)
    if 0 < answer.status < 500 or answer.status == 501:
        return Ok()
    pause = max(_FIRST_PAUSE * 2**attempt * (1 + jitter), retry_after(answer.headers, now) or 0.0)
    if repeatable and attempt < RETRIES and pause <= patience:
        return Retry(pause)
    return Raise()


def find_limit(answer: Answer, *, now: float, resource: str, strikes: int = 0, jitter: float = 0.0) -> Limit | None:
    """The rate limit that this answer reports, if any. Arguments as for `decide`.

    A 403 stands for a limit and for a missing permission; headers and message tell them apart. The primary limit covers
    one resource, a secondary one everything.
    """
    headers = answer.headers
    if answer.status == 422:
        # "Validation failed, or the endpoint has been spammed", says GitHub's manual. For the latter the error has the
        # code `abuse` (https://github.com/octokit/plugin-throttling.js/issues/775) or the message of GraphQL's
        # mutations, which REST passes on (https://github.com/cli/cli/issues/4801).
        errors = _errors(_read(answer.body))
        hasty = any(one.get("code") == "abuse" or one.get("message") == _TOO_QUICK for one in errors)
        message, used_up = _TOO_QUICK if hasty else "", False
    elif answer.status in (403, 429):
        message, used_up = message_of(answer.body).lower(), headers.get("x-ratelimit-remaining") == "0"
    elif answer.status == 200:
        # For GraphQL's primary limit the header may still say that some is left (octokit/plugin-throttling.js, 636).
        message, used_up = _limit_in(answer.body)
    else:
        return None
    if answer.status in (200, 422) and not message:
        return None
    covers = resource if used_up and "secondary" not in message else None
    if (after := retry_after(headers, now)) is not None:
        return Limit(after, covers, stated=True)
    if used_up and (reset := _until_reset(headers, now)) is not None:
        return Limit(max(reset, 0.0) + _ROUNDING, covers, stated=True)
    if answer.status != 403 or "rate limit" in message or "abuse detection" in message:
        pause = min(_LIMIT_PAUSE * 2 ** min(strikes, 10), _LONGEST_LIMIT_PAUSE)
        return Limit(pause * (1 + jitter / 4), None, stated=False)
    return None


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds by the `retry-after` header, a number or a date (RFC 9110, 10.2.3), at most a day; None without one."""
    text = headers.get("retry-after", "").strip()
    if (seconds := _number(text)) is not None:
        return min(seconds, _LONGEST_STATED)
    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    return min(max(aware(moment).timestamp() - now, 0.0), _LONGEST_STATED)


def quota(headers: Mapping[str, str], now: float) -> tuple[int, float] | None:
    """How many requests are left, and for how many seconds (a day at most, negative after the reset), if known."""
    remaining, reset = _number(headers.get("x-ratelimit-remaining")), _until_reset(headers, now)
    return None if remaining is None or reset is None else (int(remaining), reset)


def message_of(body: bytes) -> str:
    """The `message` of an error body, with the messages of its `errors`; empty for any other body."""
    data = _read(body)
    parts = [data.get("message")]
    for error in data.get("errors") or ():
        parts.append(error.get("message") if isinstance(error, dict) else error)
    return " ".join(" ".join(part for part in parts if isinstance(part, str)).split())


def _limit_in(body: bytes) -> tuple[str, bool]:
    """GraphQL's message about a limit in an answer of status 200, and whether it is the primary one; empty if none.

    https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api: the primary limit has a
    type of its own, a secondary one only its message.
    """
    # Answers are large, and few report a limit; people's texts can contain the words too.
    data = _read(body) if _MENTIONS_LIMIT.search(body) else {}
    for error in _errors(data):
        message = str(error.get("message")).lower()
        if "secondary rate limit" in message and not data.get("data"):
            return message, False
        if error.get("type") in ("RATE_LIMIT", "RATE_LIMITED"):
            return message, "secondary" not in message
    return "", False


def _read(body: bytes) -> dict[str, Any]:
    """An answer's JSON; empty if it is no mapping, or its `errors` are no list."""
    try:
        data = json.loads(body)
    except ValueError:
        return {}
    return data if isinstance(data, dict) and isinstance(data.get("errors", []), list) else {}


def _errors(data: dict[str, Any]) -> list[dict[str, Any]]:
    return [error for error in data.get("errors", ()) if isinstance(error, dict)]


def _until_reset(headers: Mapping[str, str], now: float) -> float | None:
    reset = _number(headers.get("x-ratelimit-reset"))
    return None if reset is None else min(reset - now, _LONGEST_STATED)


def _number(text: str | None) -> float | None:
    """A header's whole number, with no more digits than a date in seconds has."""
    return float(text) if text and text.isascii() and text.isdigit() and len(text) <= 10 else None
