"""Lists with cursors: a page starts after the cursor's entry. A numbered page must end before entry 10,000.

GitHub's manual does not describe the limit of numbered pages. But with 100 entries per page, GitHub
refuses page 100. GitHub's `Link` header has addresses with the parameter `after`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable
from operator import gt, lt
from typing import Any, TypeVar
from urllib.parse import urlencode

from bot.simulator.errors import ApiError
from bot.simulator.http.context import Context
from bot.simulator.http.reply import Reply

T = TypeVar("T")
Key = tuple[float, int]
MOST_COUNTED = 10_000


def page(ctx: Context, items: Iterable[T], key: Callable[[T], Key], show: Callable[[T], Any], down: bool) -> Reply:
    """One page of `items`, sorted by `key`, descending if `down`. The key's second part breaks ties."""
    ordered = sorted(items, key=key, reverse=down)
    number, per_page = ctx.paging()
    start = 0 if "after" in ctx.query else (number - 1) * per_page
    if "after" in ctx.query:
        last_shown = _read(ctx.query["after"])
        is_later = lt if down else gt
        ordered = [item for item in ordered if is_later(key(item), last_shown)]
    elif number * per_page >= MOST_COUNTED:
        raise ApiError(
            422,
            "Pagination with the page parameter is not supported for large datasets, "
            "please use cursor based pagination (after/before)",
        )
    shown = ordered[start : start + per_page]
    headers = {}
    if shown and start + per_page < len(ordered):
        query = {**ctx.query, "page": number + 1, "after": _cursor(key(shown[-1]))}
        headers["Link"] = f'<{ctx.url}?{urlencode(query)}>; rel="next"'
    return Reply([show(item) for item in shown], headers=headers)


def _cursor(key: Key) -> str:
    return base64.urlsafe_b64encode(json.dumps(key).encode()).decode()


def _read(cursor: str) -> Key:
    try:
        value, number = json.loads(base64.urlsafe_b64decode(cursor))
        return float(value), int(number)
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise ApiError(422, "The cursor is invalid") from None
