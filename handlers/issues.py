"""Issues that are opened, changed or removed: look for earlier reports, or forget what is stored."""

from __future__ import annotations

import logging
from collections.abc import Collection

from bot.conversation.config.schema import RepoConfig
from bot.conversation.marker import answered_comment_id
from bot.deliveries.events import DEFERRED, INDEXED, OVERTAKEN, CommentEvent, IssueEvent, own_issue_event
from bot.domain.entities import Actor
from bot.storage.commands import UsageLimit
from handlers import implicit_feedback
from handlers.advisory_comment import advise, note_left_alone
from handlers.answered import awaits_unlocking, without_candidates
from handlers.background import look_again_when_indexed
from handlers.commands import decisions
from handlers.context import IssueContext, issue_context, why_skipped, with_context
from handlers.services import Services

logger = logging.getLogger(__name__)


@with_context
def issue_opened_or_edited(context: IssueContext, event: IssueEvent) -> None:
    """An issue was opened, reopened, or its text was edited; or its author's limit is over (`DEFERRED`)."""
    _look(context, event)


@with_context
def issue_indexed(context: IssueContext, event: IssueEvent) -> None:
    """The index has more than when this issue was looked at: an earlier report (`OVERTAKEN`), or all issues."""
    services = context.services
    if why_skipped(context.issue, context.config, sender_is_bot=False, muted=context.muted):
        # The answer so far does not hold: if somebody reopens or unlocks the issue, it is looked at as if it were new.
        services.store.comments.answer_silently(
            context.repository.id, context.number, text_hash=None, now=services.now()
        )
    elif event.action != INDEXED or without_candidates(context.decisions()):
        # Somebody may have asked meanwhile, and keeps that answer.
        advise(context, event.action, anew=True)


@with_context
def issue_unlocked(context: IssueContext, event: IssueEvent) -> None:
    """An issue was unlocked: apply decisions made elsewhere, and look if anything happened while it was locked.

    Otherwise it stays as it is, so that no old issue gets a comment.
    """
    decisions.follow(context)
    if awaits_unlocking(context):
        _look(context, event)


@with_context
def issue_labels_changed(context: IssueContext, event: IssueEvent) -> None:
    """A label was set or removed. If the settings name it, it can decide whether the issue is looked at.

    An issue that now qualifies is looked at as if it were new; one that no longer does keeps its comment.
    """
    if _decides(context.config, event.label):
        _look(context, event)
    else:
        _index(context)


@with_context
def issue_closed(context: IssueContext, event: IssueEvent) -> None:
    """An issue was closed. Its comment stays, and shows what was known while it was open."""
    _index(context)
    implicit_feedback.closed(context, event)


def issue_removed(event: IssueEvent, services: Services) -> None:
    """An issue was deleted or transferred: forget it.

    If the App is installed where it went, `issues.opened` arrives from there, and the comment is found by its marker.
    """
    services.indexing.remove(event.repository.id, event.number)
    services.store.forget_issue(event.repository.id, event.number)


def _look(context: IssueContext, event: IssueEvent) -> None:
    if context.is_own_issue:
        implicit_feedback.digest_edited(context, event)
        return
    # It enters the index before it is answered, which can wait for GitHub, so that a report of the same second is
    # judged by the index's model rather than by GitHub's search alone.
    _index(context)
    if event.action == "opened" and not context.issue.is_pull_request:
        _queue_overtaken(context)
    if event.action == "reopened":
        implicit_feedback.reopened(context)
    reason = why_skipped(context.issue, context.config, sender_is_bot=event.sender.is_bot, muted=context.muted)
    reason = reason or _over_author_limit(context)
    if reason:
        logger.info("%s.%s on %s#%d: %s", event.name, event.action, context.repo, event.number, reason)
        note_left_alone(context, event.action, reason)
    else:
        with look_again_when_indexed(context), implicit_feedback.retitling(context, event):
            advise(context, event.action)
    if not context.issue.is_pull_request:
        # Skipped issues count too when the finder learns which words are rare here.
        context.finder().notice(context.issue)


_HOUR, _DEFERRED_FOR = 3_600.0, 86_400.0


def _over_author_limit(context: IssueContext) -> str:
    """Why the issue is skipped if its author has reached `per_author` within the hour; else empty.

    For a day, the look is put off by an hour each time; after that only a command is answered.
    """
    services, repo_id, issue, now = context.services, context.repository.id, context.issue, context.services.now()
    limit = UsageLimit(context.config.per_author, _HOUR)
    # The space keeps this apart from the commands, which are counted by login.
    who = f"{issue.author.login} in {repo_id}"
    if services.store.usage.refuse(repo_id, who, [f"issue {issue.number}"], (limit,), now) is None:
        return ""
    if now - issue.created_at.timestamp() < _DEFERRED_FOR:
        later = own_issue_event(DEFERRED, context.installation, context.repository, issue.number)
        services.inbox.put(f"{DEFERRED}-{repo_id}-{issue.number}-{now:.0f}", later, _HOUR)
    return f"per_author: more than {limit.most} issues of {issue.author.login} within an hour"


def _index(context: IssueContext) -> None:
    """Put the issue into the index. Issues of bots, muted and closed ones can be originals too (C1)."""
    if not context.issue.is_pull_request:
        context.services.indexing.keep(context.github, context.repository, context.issue)


def _decides(config: RepoConfig, label: str) -> bool:
    return label.casefold() in (name.casefold() for name in (*config.ignore.labels, *config.only_labels))


# Later issues to compare with, some milliseconds each. There are more only if a delivery came very late.
_MOST_LATER = 20
# A share of the threshold. The later issue's own probability differs, because other issues compete there.
_AT_ALL = 0.1


def _queue_overtaken(context: IssueContext) -> None:
    """Queue a look at each later issue that repeats this one: it may have been answered before this one was indexed.

    This issue is compared with the later ones once, and only those that resemble it are compared the other way round.
    """
    services, repo_id, number = context.services, context.repository.id, context.number
    if not services.indexing.ready(repo_id):
        # GitHub's own search answers until then.
        return
    later = services.index.numbers(repo_id, number, _MOST_LATER)
    for one in _similar(context, later) if later else ():
        kept = services.store.comments.get(repo_id, one)
        if (kept is None or number not in kept.shown) and _repeats(context, one, number):
            event = own_issue_event(OVERTAKEN, context.installation, context.repository, one)
            # The same pair, after a crash or a redelivery, is the same work.
            services.inbox.put(f"{OVERTAKEN}-{repo_id}-{one}-{number}", event)


def _similar(context: IssueContext, later: Collection[int]) -> set[int]:
    """The numbers of the `later` issues that this one resembles at all."""
    least, matcher = context.threshold.value * _AT_ALL, context.services.matcher
    with matcher.session(context.repository.id, context.issue, only=later, stored=True) as session:
        return {match.number for match in session.judge() if match.confidence >= least}


def _repeats(context: IssueContext, number: int, earlier: int) -> bool:
    """Whether the index would name the earlier issue on the one of that number."""
    services, repo_id = context.services, context.repository.id
    with services.index.view(repo_id) as view:
        row, text = view.issues([number]).get(number), view.texts([number]).get(number)
    if row is None or text is None:
        return False
    target = row._replace(body=text[1]).issue(context.repo, "")
    with services.matcher.session(repo_id, target, below=number, stored=True) as session:
        return any(match.confidence >= context.threshold.value for match in session.judge((earlier,)))


def comment_deleted(event: CommentEvent, services: Services) -> None:
    """A person deleted a bot's comment: if it was ours, it is never posted again.

    If GitHub's answer to its creation got lost, a second one may have been posted meanwhile, which is deleted too.
    """
    # Anybody can write a marker.
    ours = services.comments.ours(Actor(event.author, is_bot=True), event.app)
    place = answered_comment_id(event.body) if ours else None
    comments, where = services.store.comments, (event.repository.id, event.number)
    if place is not None and comments.get(*where, place) is None:
        # If the issue is gone, nothing is noted of it: NotFound ends this.
        with issue_context(event, services) as context:
            if context is not None:
                context.github.issue(context.repo, context.number)
    comments.mark_deleted(*where, event.comment_id, services.now(), place)
    kept = None if place is None else comments.get(*where, place)
    # Of two comments the older is kept; a younger one was written after this one was deleted.
    if kept is not None and kept.comment_id is not None and kept.comment_id > event.comment_id:
        comments.mark_deleted(*where, kept.comment_id, services.now())
        with issue_context(event, services) as context:
            if context is not None:
                context.github.delete_comment(context.repo, kept.comment_id)
