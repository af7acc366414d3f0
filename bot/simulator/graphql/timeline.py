"""An issue's timeline. Unlike REST's, it shows the original when the issue is marked as a duplicate.

https://docs.github.com/graphql/reference/objects#markedasduplicateevent
"""

from __future__ import annotations

from typing import Any

from bot.simulator.access import visible_issue
from bot.simulator.clock import iso, read_iso
from bot.simulator.graphql.connections import connection
from bot.simulator.graphql.errors import unknown
from bot.simulator.graphql.table import Info, Resolvers
from bot.simulator.http.context import Context
from bot.simulator.state.issues import Comment, Issue, TimelineEvent

RESOLVERS = Resolvers()

_EVENTS = {
    "CLOSED_EVENT": "closed",
    "ISSUE_COMMENT": "commented",
    "MARKED_AS_DUPLICATE_EVENT": "marked_as_duplicate",
    "UNMARKED_AS_DUPLICATE_EVENT": "unmarked_as_duplicate",
}
_TYPES = {
    "closed": "ClosedEvent",
    "marked_as_duplicate": "MarkedAsDuplicateEvent",
    "unmarked_as_duplicate": "UnmarkedAsDuplicateEvent",
}


@RESOLVERS.add("Issue.timelineItems")
def timeline_items(source: Issue, info: Info, **args: Any) -> dict[str, Any]:
    ctx = info.context
    if not args.get("itemTypes"):
        # GitHub would answer with items of all types; the simulator knows only some.
        raise unknown(ctx, "timelineItems without itemTypes")
    kinds = {_EVENTS[name] for name in args["itemTypes"]}
    since = read_iso(args.get("since"))
    items = [
        _item(ctx, source, entry)
        for entry in sorted(source.events, key=lambda entry: entry.created_at)
        if entry.event in kinds and (since is None or entry.created_at >= since)
    ]
    page = connection("timelineItems", items, args)
    counts = {"filteredCount": len(items), "pageCount": len(page["nodes"]), "updatedAt": iso(source.updated_at)}
    return page | counts


def _closer(ctx: Context, subject: Issue, closer: Issue | str | None) -> Issue | dict[str, Any] | None:
    """What closed the issue: a pull request that the caller may see, or the fields of a commit. Otherwise None."""
    if isinstance(closer, str):
        return {"__typename": "Commit", "oid": closer, "repository": subject.repository}
    return visible_issue(ctx.sim, ctx.caller, closer) if closer else None


def _item(ctx: Context, subject: Issue, entry: TimelineEvent) -> Comment | dict[str, Any]:
    """The comment, if the entry records one, else the fields of the event."""
    if entry.event == "commented":
        comment: Comment = entry.data["comment"]
        return comment
    shared = {
        "__typename": _TYPES[entry.event],
        "id": entry.node_id,
        "actor": entry.actor,
        "createdAt": iso(entry.created_at),
    }
    if entry.event == "closed":
        return shared | {"closer": _closer(ctx, subject, entry.data.get("closer"))}
    original: Issue = entry.data["canonical"]
    return shared | {
        "canonical": visible_issue(ctx.sim, ctx.caller, original),
        "duplicate": subject,
        "isCrossRepository": original.repository is not subject.repository,
    }
