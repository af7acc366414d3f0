"""Pages of GraphQL lists (https://docs.github.com/graphql/guides/using-pagination-in-the-graphql-api)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any

from bot.simulator.graphql.errors import Refusal

MOST = 100


def connection(name: str, items: Sequence[Any], args: Mapping[str, Any]) -> dict[str, Any]:
    """The page of `items` selected by `first`/`after` or `last`/`before`, with `pageInfo` and `totalCount`."""
    first, last = check(name, args)
    # Cursors count from 1, indexes from 0. So the item after cursor 1 has index 1, and the item before cursor 3 too.
    start = position(args.get("after"), 0)
    end = position(args.get("before"), len(items) + 1) - 1
    end = min(end, len(items))
    if first is not None:
        end = min(end, start + first)
    elif last is not None:
        start = max(start, end - last)
    edges = [{"cursor": cursor(at + 1), "node": items[at]} for at in range(start, end)]
    return {
        "edges": edges,
        "nodes": [edge["node"] for edge in edges],
        "totalCount": len(items),
        "pageInfo": page_info(edges, start > 0, end < len(items)),
    }


def page_info(edges: Sequence[Mapping[str, Any]], before: bool, after: bool) -> dict[str, Any]:
    """The page's first and last cursor, and whether there are more pages `before` and `after` this one."""
    return {
        "startCursor": edges[0]["cursor"] if edges else None,
        "endCursor": edges[-1]["cursor"] if edges else None,
        "hasPreviousPage": before,
        "hasNextPage": after,
    }


def check(name: str, args: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """`first` and `last`, each from 0 to 100. Raises Refusal for other numbers, and if both are missing."""
    first, last = args.get("first"), args.get("last")
    if first is None and last is None:
        raise Refusal(
            "MISSING_PAGINATION_BOUNDARIES",
            f"You must provide a `first` or `last` value to properly paginate the `{name}` connection.",
        )
    for word, value in (("first", first), ("last", last)):
        if value is not None and not 0 <= value <= MOST:
            raise Refusal(
                "EXCESSIVE_PAGINATION",
                f"Requesting {value} records on the `{name}` connection exceeds the `{word}` limit of {MOST} records.",
            )
    return first, last


def cursor(number: int) -> str:
    """The cursor of the `number`-th item of a list."""
    return base64.b64encode(f"cursor:{number}".encode()).decode()


def position(text: str | None, default: int) -> int:
    """The number in a cursor, or `default` without a cursor. Raises Refusal for an invalid cursor."""
    if not text:
        return default
    try:
        number = int(base64.b64decode(text).decode().removeprefix("cursor:"))
    except (ValueError, binascii.Error):
        number = -1
    if number < 0:
        raise Refusal("INVALID_CURSOR_ARGUMENTS", f"`{text}` does not appear to be a valid cursor.")
    return number
