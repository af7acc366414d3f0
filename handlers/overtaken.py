"""An issue that comes in after later ones were looked at: those that repeat it are looked at again.

Deliveries arrive in any order and are worked on side by side, so that of two reports opened within a second the later
one can be looked at before the earlier one is in the index. Each is put there before it is looked at. So either the
later one's look sees the earlier issue, or whoever puts that in sees the later issue there: nothing falls between.
"""

from __future__ import annotations

from bot.events.own import OVERTAKEN, own_issue_event
from bot.model import Issue
from handlers.visit import Visit

# Later issues that are asked about, some milliseconds each. There are more only where a delivery came very late.
_MOST = 20
# Of the bar. What the later one would say of this one differs from what this one says of it: its pool is another.
_AT_ALL = 0.1


def tell_later(visit: Visit, issue: Issue, installation: int | None) -> None:
    """Queue a look at each later issue that repeats this one, and was perhaps looked at before this one was here.

    Where many issues wait nearly all overtake one another. So this one is asked about once, only those that it
    resembles are asked about it, and all of that by the index alone before anything is queued.
    """
    services, repo_id = visit.services, visit.repository.id
    if not services.indexing.ready(repo_id):
        # GitHub's own search answers until then.
        return
    later = services.index.numbers(repo_id, issue.number, _MOST)
    for number in _near(visit, issue).intersection(later) if later else ():
        kept = services.store.comments.get(repo_id, number)
        if (kept is None or issue.number not in kept.shown) and _repeats(visit, number, issue.number):
            event = own_issue_event(OVERTAKEN, installation, visit.repository, number)
            # The same two again, after a crash or a redelivery, are the same work.
            services.inbox.put(f"{OVERTAKEN}-{repo_id}-{number}-{issue.number}", event)


def _near(visit: Visit, issue: Issue) -> set[int]:
    """The numbers of the issues, earlier or later, that this one resembles at all."""
    least = visit.bar.value * _AT_ALL
    with visit.services.matcher.looking(visit.repository.id, issue, stored=True) as look:
        return {match.number for match in look.judge() if match.confidence >= least}


def _repeats(visit: Visit, number: int, earlier: int) -> bool:
    """Whether the index would name the earlier issue on the one of that number."""
    services, repo_id = visit.services, visit.repository.id
    with services.index.view(repo_id) as view:
        row, text = view.issues([number]).get(number), view.texts([number]).get(number)
    if row is None or text is None:
        return False
    target = row._replace(body=text[1]).issue(visit.repo, "")
    with services.matcher.looking(repo_id, target, below=number, stored=True) as look:
        return any(match.confidence >= visit.bar.value for match in look.judge((earlier,)))
