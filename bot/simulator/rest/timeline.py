"""An issue's timeline and events (https://docs.github.com/rest/issues/timeline, …/rest/issues/events)."""

from __future__ import annotations

from bot.simulator.access import visible_issue
from bot.simulator.http.context import Context
from bot.simulator.http.operation import READ_ISSUES
from bot.simulator.http.reply import Reply
from bot.simulator.http.routing import Routes
from bot.simulator.payloads import timeline

ROUTES = Routes()

# The models of the events that both the timeline and the list of events show.
_EVENTS = "LabeledIssueEvent|UnlabeledIssueEvent|RenamedIssueEvent|LockedIssueEvent|StateChangeIssueEvent"
# Events in the timeline only.
_TIMELINE_ONLY = frozenset({"commented", "cross-referenced"})


@ROUTES.add(
    "GET",
    "/repos/<owner>/<repo>/issues/<int:number>/timeline",
    permissions=READ_ISSUES,
    model=f"[{_EVENTS}|TimelineCommentEvent|TimelineCrossReferencedEvent]",
)
def list_timeline(ctx: Context) -> Reply:
    """Events and comments in order of time, without references from issues that the caller must not see."""
    target = ctx.issue()
    sources = {
        entry.id: visible_issue(ctx.sim, ctx.caller, entry.data["source"])
        for entry in target.events
        if entry.event == "cross-referenced"
    }
    hidden = {key for key, source in sources.items() if source is None}
    # The sort is stable, so entries of the same second keep their order.
    entries = sorted(
        (entry for entry in target.events if entry.id not in hidden),
        key=lambda entry: entry.created_at,
    )
    return ctx.page(entries, lambda entry: timeline.event(ctx.sim, target, entry, sources.get(entry.id)))


@ROUTES.add("GET", "/repos/<owner>/<repo>/issues/<int:number>/events", permissions=READ_ISSUES, model=f"[{_EVENTS}]")
def list_events(ctx: Context) -> Reply:
    """The issue's events."""
    target = ctx.issue()
    entries = [entry for entry in target.events if entry.event not in _TIMELINE_ONLY]
    return ctx.page(entries, lambda entry: timeline.event(ctx.sim, target, entry))
