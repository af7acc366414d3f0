"""Handlers of issues that are opened, changed or removed, and of the bot's comments that people delete."""

from __future__ import annotations

import logging
from collections.abc import Collection

from bot.conversation.marker import answered_comment_id
from bot.deliveries.events import DEFERRED, OVERTAKEN, CommentEvent, IssueEvent, own_issue_event
from bot.domain.entities import Actor
from bot.platform.lease import TRUSTED_SECONDS, check_lease
from bot.storage.commands import UsageLimit
from handlers import implicit_feedback
from handlers.advisory_comment import advise, note_left_alone
from handlers.answered import awaits_unlocking, without_candidates
from handlers.commands import decisions
from handlers.context import IssueContext, issue_context, why_skipped, with_context
from handlers.services import Services

logger = logging.getLogger(__name__)


@with_context
def issue_opened_or_edited(context: IssueContext, event: IssueEvent) -> None:
    """An issue was opened, reopened or edited, or is due for another look after its author's limit (`DEFERRED`)."""
    _look(context, event)


@with_context
def issue_indexed(context: IssueContext, event: IssueEvent) -> None:
    """Since the last look, the index has gained an earlier report (`OVERTAKEN`) or become complete (`INDEXED`)."""
    services = context.services
    if why_skipped(context.issue, context.config, sender_is_bot=False, muted=context.muted):
        # The answer is out of date. Store no hash of the text: then reopening or unlocking the issue causes a new look.
        services.store.comments.record_silence(
            context.repository.id, context.number, text_hash=None, now=services.now()
        )
    elif event.action == OVERTAKEN or without_candidates(context.decisions()):
        # `INDEXED` is queued after an answer without candidates. A newer answer with candidates stays.
        advise(context, event.action, force=True)


@with_context
def issue_unlocked(context: IssueContext, event: IssueEvent) -> None:
    """An issue was unlocked: apply decisions made on other issues, and look at the issue if it awaits a look."""
    decisions.follow(context)
    # Without this condition, old issues would get comments.
    if awaits_unlocking(context):
        _look(context, event)


@with_context
def issue_labels_changed(context: IssueContext, event: IssueEvent) -> None:
    """A label was set or removed. `ignore.labels` and `only_labels` name the labels that count.

    If the issue now qualifies, the bot treats it like a new issue. If it no longer qualifies, its comment stays.
    """
    config, label = context.config, event.label.casefold()
    if label in (name.casefold() for name in (*config.ignore.labels, *config.only_labels)):
        _look(context, event)
    else:
        _index(context)


@with_context
def issue_closed(context: IssueContext, event: IssueEvent) -> None:
    """An issue was closed. Its comment stays as it was while the issue was open."""
    _index(context)
    implicit_feedback.closed(context, event)


def issue_removed(event: IssueEvent, services: Services) -> None:
    """An issue was deleted or transferred: forget the issue.

    If the App is installed in the new repository, GitHub sends `issues.opened` from there, and the bot recognises its
    comment by the marker.
    """
    services.indexing.remove(event.repository.id, event.number)
    services.store.forget_issue(event.repository.id, event.number)


def _look(context: IssueContext, event: IssueEvent) -> None:
    if context.is_own_issue:
        implicit_feedback.digest_edited(context, event)
        return
    # Index the issue first, because the search can take seconds. A look at a report that arrives meanwhile then finds
    # this issue in the index, which judges better than GitHub's search.
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
        advise(context, event.action)


_HOUR, _LONGEST_DEFERRAL = 3_600.0, 86_400.0


def _over_author_limit(context: IssueContext) -> str:
    """The reason to skip the issue, if its author has exceeded the limit `per_author` within the hour; else empty.

    A skipped issue gets a new look in an hour, until it is a day old. After that, only a command gets an answer.
    """
    services, repo_id, issue, now = context.services, context.repository.id, context.issue, context.services.now()
    limit = UsageLimit(context.config.per_author, _HOUR)
    # The space, which no login contains, separates this count from the count of commands.
    who = f"{issue.author.login} in {repo_id}"
    if services.store.usage.refuse(repo_id, who, [f"issue {issue.number}"], (limit,), now) is None:
        return ""
    if now - issue.created_at.timestamp() < _LONGEST_DEFERRAL:
        later = own_issue_event(DEFERRED, context.installation, context.repository, issue.number)
        services.inbox.put(f"{DEFERRED}-{repo_id}-{issue.number}-{now:.0f}", later, _HOUR)
    return f"per_author: more than {limit.most} issues of {issue.author.login} within an hour"


def _index(context: IssueContext) -> None:
    """Put the issue into the index. Muted, closed and bots' issues can be originals, too (C1)."""
    if not context.issue.is_pull_request:
        check_lease(TRUSTED_SECONDS)
        context.services.indexing.put(context.github, context.repository, context.issue)


# At most this many later issues are compared. More exist only if the delivery came very late.
_MOST_LATER = 20
# The lowest probability for `_similar`, as a share of the threshold. The share is low, because a pair's probability
# depends on the search's other candidates: `_repeats`, another search, may give the same pair a higher probability.
_SIMILAR_SHARE = 0.1


def _queue_overtaken(context: IssueContext) -> None:
    """Queue a new look at later issues that repeat this issue, if the bot looked at them before it indexed this issue.

    First search once among the issues that missed this one. Then check whether a look at each match finds this issue.
    """
    services, repo_id, number = context.services, context.repository.id, context.number
    if not services.indexing.ready(repo_id):
        # Until the index is complete, GitHub's search answers.
        return
    events = {
        later: own_issue_event(OVERTAKEN, context.installation, context.repository, later)
        for later in services.index.numbers(repo_id, number, _MOST_LATER)
    }
    # Ask for running jobs before answers. In the other order, both queries would miss a look that ends between them.
    running = services.inbox.running([event.partition for event in events.values()]) if events else set()
    shown = services.store.comments.shown(repo_id, events)
    answered = {later for later in shown if number not in shown[later]}
    # An unanswered issue counts as missed only if its look is running: a look that begins now will find this issue.
    unanswered = events.keys() - shown.keys()
    missed = answered | {later for later in unanswered if events[later].partition in running}
    for later in _similar(context, missed) if missed else ():
        if _repeats(context, later, number):
            # The id names the pair, so that the queue drops a repetition after a crash or a redelivery.
            services.inbox.put(f"{OVERTAKEN}-{repo_id}-{later}-{number}", events[later])


def _similar(context: IssueContext, later: Collection[int]) -> set[int]:
    """The numbers of the `later` issues that resemble this issue, even slightly."""
    min_confidence, matcher = context.threshold.value * _SIMILAR_SHARE, context.services.matcher
    with matcher.session(context.repository.id, context.issue, only=later, stored=True) as session:
        return {match.number for match in session.judge() if match.confidence >= min_confidence}


def _repeats(context: IssueContext, later: int, earlier: int) -> bool:
    """Whether the index finds the issue `earlier` as a candidate for the issue `later`."""
    services, repo_id = context.services, context.repository.id
    with services.index.view(repo_id) as view:
        row, title_and_body = view.issues([later]).get(later), view.texts([later]).get(later)
    if row is None or title_and_body is None:
        return False
    target = row._replace(body=title_and_body[1]).issue(context.repo, "")
    with services.matcher.session(repo_id, target, below=later, stored=True) as session:
        return any(match.confidence >= context.threshold.value for match in session.judge((earlier,)))


def comment_deleted(event: CommentEvent, services: Services) -> None:
    """A person deleted a bot's comment. If the comment was ours, never post it again.

    If GitHub's answer to the creation got lost, the bot may have posted a second comment. Delete that comment, too.
    """
    # Check the author, because anybody can write a marker.
    ours = services.comments.ours(Actor(event.author, is_bot=True), event.app)
    # The id of the comment that the deleted one answers: 0 for an advisory comment, None for one that is not ours.
    command_id = answered_comment_id(event.body) if ours else None
    comments, where = services.store.comments, (event.repository.id, event.number)
    if command_id is not None and comments.get(*where, command_id) is None:
        # `mark_deleted` adds the missing row. Read the issue first: if the issue is gone, NotFound keeps the row out.
        with issue_context(event, services) as context:
            if context is not None:
                context.github.issue(context.repo, context.number)
    comments.mark_deleted(*where, event.comment_id, services.now(), command_id)
    stored = None if command_id is None else comments.get(*where, command_id)
    # A stored comment with a higher id is the second comment: the bot posted it after the first was deleted.
    if stored is not None and stored.comment_id is not None and stored.comment_id > event.comment_id:
        comments.mark_deleted(*where, stored.comment_id, services.now())
        with issue_context(event, services) as context:
            if context is not None:
                context.github.delete_comment(context.repo, stored.comment_id)
