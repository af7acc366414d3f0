"""What an answer of GitHub's means for the request that got it: done, once more, or give up. Pure.

The rules are those of https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api: honour
`retry-after`, else `x-ratelimit-reset` where nothing remains, else wait a minute at least and longer each time.
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
"""How often a request that may be repeated is repeated after a failure of GitHub's."""

_FIRST_PAUSE = 0.5
_LIMIT_PAUSE = 60.0
_LONGEST_LIMIT_PAUSE = 960.0
# GitHub's longest window is an hour. Whoever believed a header that names years would be silent for as long.
_LONGEST_TOLD = 86_400.0
# `x-ratelimit-reset` and `Date` are whole seconds: a second more is never too early.
_ROUNDING = 1.0
_TELLS_OF_LIMIT = re.compile(rb"rate.limit", re.IGNORECASE)
_TOO_QUICK = "was submitted too quickly"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. `status` is 0 where nothing did; header names are lower case.

    `body` matters for 403, 422 and 429, and for what GraphQL answers: limits are told there with status 200 as well.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Ok:
    """Hand the answer over: a success, or a refusal that waiting cannot change."""


@dataclass(frozen=True, slots=True)
class Limit:
    """GitHub says "not now": which resource (None: everything), for how many seconds, and whether it said how long."""

    after: float
    resource: str | None
    told: bool


@dataclass(frozen=True, slots=True)
class Retry:
    """Ask again after so many seconds."""

    after: float
    limit: Limit | None = None


@dataclass(frozen=True, slots=True)
class Raise:
    """Do not ask again now. `limit` is set for a rate limit; without it GitHub is out of order."""

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

    `attempt` counts the retries made so far, `patience` is how many seconds may still be spent on this request, `now`
    is GitHub's time (seconds since 1970), `resource` is the primary limit that the request counts for, `strikes` counts
    the limits before this one that named no time, and `jitter` in [0, 1) spreads the clients. `repeatable` says that
    doing it twice does no harm: a request that was refused for a limit was not done and may always be repeated, one
    that failed in any other way perhaps was.
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
    """The rate limit that this answer reports, if it reports one. Arguments as for `decide`.

    A 403 is both GitHub's word for a limit and for a missing permission; headers and message tell them apart. The
    primary limit covers one resource, a secondary one everything.
    """
    headers = answer.headers
    if answer.status == 422:
        message, used_up = _too_quick(answer.body), False
    elif answer.status in (403, 429):
        message, used_up = message_of(answer.body).lower(), headers.get("x-ratelimit-remaining") == "0"
    elif answer.status == 200:
        # Of GraphQL's primary limit the header need not say that nothing is left (octokit/plugin-throttling.js, 636).
        message, used_up = _limit_in(answer.body)
    else:
        return None
    if answer.status in (200, 422) and not message:
        return None
    covers = resource if used_up and "secondary" not in message else None
    if (after := retry_after(headers, now)) is not None:
        return Limit(after, covers, told=True)
    if used_up and (reset := _until_reset(headers, now)) is not None:
        return Limit(max(reset, 0.0) + _ROUNDING, covers, told=True)
    if answer.status != 403 or "rate limit" in message or "abuse detection" in message:
        pause = min(_LIMIT_PAUSE * 2 ** min(strikes, 10), _LONGEST_LIMIT_PAUSE)
        return Limit(pause * (1 + jitter / 4), None, told=False)
    return None


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds from the `retry-after` header, which is a number or a date (RFC 9110, 10.2.3), at most a day; None if
    absent or odd.
    """
    text = headers.get("retry-after", "").strip()
    if (seconds := _number(text)) is not None:
        return min(seconds, _LONGEST_TOLD)
    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    return min(max(aware(moment).timestamp() - now, 0.0), _LONGEST_TOLD)


def quota(headers: Mapping[str, str], now: float) -> tuple[int, float] | None:
    """How many requests of a resource are left, and for how many seconds from `now`: at most a day, and less than none
    where the time is over. None if the headers do not tell.
    """
    remaining, reset = _number(headers.get("x-ratelimit-remaining")), _until_reset(headers, now)
    return None if remaining is None or reset is None else (int(remaining), reset)


def message_of(body: bytes) -> str:
    """The `message` of an error body, with the messages of its `errors`; empty if the body is nothing of the kind."""
    data = _read(body)
    parts = [data.get("message")]
    for error in data.get("errors") or ():
        parts.append(error.get("message") if isinstance(error, dict) else error)
    return " ".join(" ".join(part for part in parts if isinstance(part, str)).split())


def _too_quick(body: bytes) -> str:
    """What a 422 says that refuses something only because it came too fast; empty for all others.

    "Validation failed, or the endpoint has been spammed", says GitHub's manual. The error then has the code `abuse`
    (https://github.com/octokit/plugin-throttling.js/issues/775) or the message of GraphQL's mutations, which REST
    passes on (https://github.com/cli/cli/issues/4801).
    """
    hasty = any(one.get("code") == "abuse" or one.get("message") == _TOO_QUICK for one in _errors(_read(body)))
    return _TOO_QUICK if hasty else ""


def _limit_in(body: bytes) -> tuple[str, bool]:
    """What GraphQL says of a limit in an answer of status 200, and whether it is the primary one; empty if nothing.

    It is told with 200 as well as with 403
    (https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api). The primary limit has a
    type of its own, a secondary one only its message.
    """
    # Answers are large, and few tell of a limit; texts of people can hold the words too.
    data = _read(body) if _TELLS_OF_LIMIT.search(body) else {}
    for error in _errors(data):
        message = str(error.get("message")).lower()
        if "secondary rate limit" in message and not data.get("data"):
            return message, False
        if error.get("type") in ("RATE_LIMIT", "RATE_LIMITED"):
            return message, "secondary" not in message
    return "", False


def _read(body: bytes) -> dict[str, Any]:
    """An answer's JSON; empty where it is no mapping, or its `errors` are no list."""
    try:
        data = json.loads(body)
    except ValueError:
        return {}
    return data if isinstance(data, dict) and isinstance(data.get("errors", []), list) else {}


def _errors(data: dict[str, Any]) -> list[dict[str, Any]]:
    return [error for error in data.get("errors", ()) if isinstance(error, dict)]


def _until_reset(headers: Mapping[str, str], now: float) -> float | None:
    reset = _number(headers.get("x-ratelimit-reset"))
    return None if reset is None else min(reset - now, _LONGEST_TOLD)


def _number(text: str | None) -> float | None:
    """A header's whole number; anything longer than a date in seconds is no number that anyone meant."""
    return float(text) if text and text.isascii() and text.isdigit() and len(text) <= 10 else None
