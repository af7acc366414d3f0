"""Issues that appear, change or go: look for earlier reports, or forget what is known."""

from __future__ import annotations

import logging
from collections.abc import Collection

from bot.conversation.config import RepoConfig
from bot.conversation.posts.marker import answered_by
from bot.conversation.posts.own_issues import is_own_issue
from bot.deliveries.events import DEFERRED, INDEXED, OVERTAKEN, CommentEvent, IssueEvent, own_issue_event
from bot.domain.entities import Actor, Issue
from bot.storage.commands import Limit
from handlers import feedback
from handlers.advice.advice import advise
from handlers.advice.drafting import note_left_alone
from handlers.commands import verdicts
from handlers.finding import finder_for
from handlers.indexing import is_unanswered, until_complete
from handlers.services import Services
from handlers.visit import LOCKED, Visit, visited, visiting, why_silent

logger = logging.getLogger(__name__)


@visited
def look(visit: Visit, event: IssueEvent) -> None:
    """An issue was opened, reopened, or its text was edited."""
    _look(visit, event)


@visited
def look_again(visit: Visit, event: IssueEvent) -> None:
    """The index has what it had not when this issue was looked at: an earlier report, or all of them."""
    services = visit.services
    issue = visit.github.issue(visit.repo, visit.number)
    if why_silent(issue, visit.config, sender_is_bot=False, muted=visit.muted):
        # What was said of it so far is no answer: who opens it again, or frees it, has it looked at as if new.
        services.store.comments.answer_silently(visit.repository.id, visit.number, text_hash="", now=services.now())
    elif event.action != INDEXED or is_unanswered(visit):
        advise(visit, issue, event.action, anew=True)


@visited
def unlocked(visit: Visit, event: IssueEvent) -> None:
    """An issue was unlocked: what was decided elsewhere until then is heeded, and what happened here is looked at.

    Where nobody came to look at it meanwhile it stays as it is, so that no old issue gets a comment by that.
    """
    verdicts.follow(visit)
    if _waits(visit):
        _look(visit, event)


@visited
def labels_changed(visit: Visit, event: IssueEvent) -> None:
    """A label came or went. That matters where the settings let labels decide which issues are looked at.

    An issue that now qualifies is looked at as if it were new; one that no longer does keeps its comment, which a
    maintainer can delete.
    """
    if _decides(visit.config, event.label):
        _look(visit, event)
    else:
        _keep(visit, visit.github.issue(visit.repo, event.number))


@visited
def closed(visit: Visit, event: IssueEvent) -> None:
    """An issue was closed. The comment stays as it is: who reads it later sees what was known when it was open."""
    issue = visit.github.issue(visit.repo, event.number)
    _keep(visit, issue)
    feedback.closed(visit, issue, event)


def gone(event: IssueEvent, services: Services) -> None:
    """An issue was deleted or moved to another repository: nothing of it is kept here.

    Where the App is installed on the other repository, `issues.opened` arrives from there; the advisory comment that
    moved along is found by its marker.
    """
    services.indexing.remove(event.repository.id, event.number)
    services.store.forget_issue(event.repository.id, event.number)


def _look(visit: Visit, event: IssueEvent) -> None:
    # The payload may be old: what counts is the issue as it is now.
    issue = visit.github.issue(visit.repo, event.number)
    if is_own_issue(issue) or issue.number in visit.own_issues:
        feedback.ticked(visit, issue, event)
        return
    # In the index before its own answer, which can wait for GitHub: what is reported again in the same second is judged
    # by the index's model then, as it is ever after, and not by what GitHub's search shows of it.
    _keep(visit, issue)
    if event.action == "opened" and not issue.is_pull_request:
        tell_later(visit, issue, event.installation)
    if event.action == "reopened":
        feedback.reopened(visit, issue)
    reason = why_silent(issue, visit.config, sender_is_bot=event.sender.is_bot, muted=visit.muted)
    reason = reason or _too_many(visit, issue, event)
    if reason:
        logger.info("%s.%s on %s#%d: %s", event.name, event.action, visit.repo, event.number, reason)
        note_left_alone(visit, event.action, reason)
    else:
        with until_complete(visit, event.installation), feedback.retitling(visit, issue, event):
            advise(visit, issue, event.action)
    if not issue.is_pull_request:
        # What is not answered counts too, when it comes to which words are rare here.
        finder_for(visit, issue).notice(issue)


_HOUR, _DEFERRED_FOR = 3_600.0, 86_400.0


def _too_many(visit: Visit, issue: Issue, event: IssueEvent) -> str:
    """Say so where the author has had as many issues looked at within the hour as `per_author` allows; else empty.

    The look is queued for an hour later, for a day; after that only who asks is answered.
    """
    services, repo_id, now = visit.services, visit.repository.id, visit.services.now()
    limit = Limit(visit.config.per_author, _HOUR)
    # No login contains a space, so that this counts apart from the commands.
    who = f"{issue.author.login} in {repo_id}"
    if services.store.usage.refuse(repo_id, who, [f"issue {issue.number}"], (limit,), now) is None:
        return ""
    if now - issue.created_at.timestamp() < _DEFERRED_FOR:
        later = own_issue_event(DEFERRED, event.installation, visit.repository, issue.number)
        services.inbox.put(f"{DEFERRED}-{repo_id}-{issue.number}-{now:.0f}", later, _HOUR)
    return f"per_author: more than {limit.most} issues of {issue.author.login} within an hour"


def _waits(visit: Visit) -> bool:
    """Whether something that happened to the issue while it was locked has had no look since."""
    noted, kept = visit.decisions(), visit.kept_comment()
    left_alone = bool(noted) and noted[-1].reason == LOCKED
    # `look_again` says so in this way.
    return left_alone or (kept is not None and not kept.text_hash)


def _keep(visit: Visit, issue: Issue) -> None:
    """What bots cause, what is muted and what is closed can be an original, so that all of it is indexed (C1)."""
    if not issue.is_pull_request:
        visit.services.indexing.keep(visit.github, visit.repository, issue)


def _decides(config: RepoConfig, label: str) -> bool:
    return label.casefold() in (name.casefold() for name in (*config.ignore.labels, *config.only_labels))


# Later issues that are asked about, some milliseconds each. There are more only where a delivery came very late.
_MOST_LATER = 20
# Of the threshold. What the later one would say of this one differs from what this one says of it: its pool is another.
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
    later = services.index.numbers(repo_id, issue.number, _MOST_LATER)
    for number in _near(visit, issue, later) if later else ():
        kept = services.store.comments.get(repo_id, number)
        if (kept is None or issue.number not in kept.shown) and _repeats(visit, number, issue.number):
            event = own_issue_event(OVERTAKEN, installation, visit.repository, number)
            # The same two again, after a crash or a redelivery, are the same work.
            services.inbox.put(f"{OVERTAKEN}-{repo_id}-{number}-{issue.number}", event)


def _near(visit: Visit, issue: Issue, later: Collection[int]) -> set[int]:
    """The numbers of those of the `later` issues that this one resembles at all."""
    least = visit.threshold.value * _AT_ALL
    with visit.services.matcher.looking(visit.repository.id, issue, only=later, stored=True) as look:
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
        return any(match.confidence >= visit.threshold.value for match in look.judge((earlier,)))


def comment_deleted(event: CommentEvent, services: Services) -> None:
    """A person deleted a comment of a bot's: if it was ours, it is never posted again.

    Where GitHub's answer to the first had been lost, another may have been written in its place before this was heard
    of. That one is taken back.
    """
    # Anybody can write a marker.
    ours = services.comments.ours(Actor(event.author, is_bot=True), event.app)
    place = answered_by(event.body) if ours else None
    comments, where = services.store.comments, (event.repository.id, event.number)
    if place is not None and comments.get(*where, place) is None:
        # All that was known may have gone with the issue, of which nothing is noted then: NotFound ends this.
        with visiting(event, services) as visit:
            if visit is not None:
                visit.github.issue(visit.repo, visit.number)
    comments.mark_deleted(*where, event.comment_id, services.now(), place)
    kept = None if place is None else comments.get(*where, place)
    # Of two that there are the older is kept; so a younger one was written when this was gone.
    if kept is not None and kept.comment_id is not None and kept.comment_id > event.comment_id:
        comments.mark_deleted(*where, kept.comment_id, services.now())
        with visiting(event, services) as visit:
            if visit is not None:
                visit.github.delete_comment(visit.repo, kept.comment_id)
