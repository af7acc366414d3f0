"""What is known of an issue when the time has come that its comment announces: read anew from GitHub and the store."""

from __future__ import annotations

from collections.abc import Sequence

from bot.errors import NotFound
from bot.github.repository.labels import duplicate_label
from bot.github.repository.votes import Vote
from bot.model import Comment, Issue, IssueRef, same_login
from bot.store import CommentState
from bot.store.parts.closings import KeptClosing
from bot.store.parts.comments import KeptComment
from handlers.advice.labelling import last_set
from handlers.advice.offering import objects
from handlers.closing.rule import Facts
from handlers.visit import Visit


def facts_of(visit: Visit, issue: Issue, kept: KeptClosing) -> tuple[Facts, Issue | None, str]:
    """What `decide` asks for, the issue in whose favour this one may be closed, and who agreed.

    Raises Unavailable where GitHub does not tell all of it now.
    """
    comment = visit.kept_comment()
    target, original = _target(visit, kept.other)
    ours = _as_it_stands(visit, comment)
    told = _votes(visit, ours)
    votes = told or ()
    # What stands there was written by then, whatever an earlier version noted by a clock of ours that was fast.
    since = min(kept.since, ours.updated_at.timestamp()) if ours else kept.since
    author = issue.author.login
    labeller = _labeller(visit, since) if duplicate_label(issue.labels) else ""
    # An earlier 👍 thanks for what the comment said then, perhaps of another issue, and nothing of closing.
    agrees = any(vote.up and same_login(vote.login, author) and vote.at > since for vote in votes)
    facts = Facts(
        # What people were promised counts from GitHub's time; ours may be ahead of it by days.
        now=visit.services.github.now(),
        since=kept.since,
        days=kept.days,
        wanted=visit.config.close_after is not None,
        is_open=_is_open(issue),
        muted=_is_muted(visit, issue),
        announced=ours is not None and comment is not None and comment.shown[:1] == (kept.other,),
        rejected=kept.other in visit.services.store.verdicts.rejected(visit.repository.id, visit.number),
        target_open=target is not None and target.state == "open" and not target.is_pull_request,
        target_older=target is not None and (target.created_at, target.number) < (issue.created_at, issue.number),
        circle=original is not None and original.key == IssueRef(visit.repo, visit.number).key,
        heard=told is not None,
        against=sum(not vote.up for vote in votes),
        comments=sum(objects(one, since) for one in visit.github.comments(visit.repo, visit.number)),
        reopened=_is_reopened(visit, issue, since),
        author_agrees=agrees,
        labelled=bool(labeller),
    )
    return facts, target, author if agrees else labeller


def is_let_alone(visit: Visit, issue: Issue) -> bool:
    """Whether its comment stays as it is."""
    return not _is_open(issue) or _is_muted(visit, issue)


def _target(visit: Visit, number: int) -> tuple[Issue | None, IssueRef | None]:
    """The issue in whose favour, and of what that is a duplicate; nothing where it is gone."""
    try:
        return visit.github.issue(visit.repo, number), visit.github.duplicate_of(visit.repo, number)
    except NotFound:
        return None, None


def _as_it_stands(visit: Visit, kept: KeptComment | None) -> Comment | None:
    """The bot's comment; None where there is none, or it was deleted and that is still on its way or never heard."""
    if kept is None or kept.state is not CommentState.POSTED or kept.comment_id is None:
        return None
    try:
        return visit.github.comment(visit.repo, kept.comment_id)
    except NotFound:
        return None


def _votes(visit: Visit, comment: Comment | None) -> Sequence[Vote] | None:
    """The votes on it; None where GitHub does not tell them."""
    if comment is None:
        return None
    told = visit.github.votes([comment.node_id]).found.get(comment.node_id)
    return None if told is None else told.votes


def _is_open(issue: Issue) -> bool:
    return issue.state == "open" and not issue.locked


def _is_reopened(visit: Visit, issue: Issue, since: float) -> bool:
    """Whether somebody has opened it again since the announcement."""
    if issue.state_reason != "reopened":
        return False
    at = visit.github.last_reopened(visit.repo, visit.number)
    # GitHub tells whole seconds, as of comments.
    return at is not None and at >= int(since)


def _is_muted(visit: Visit, issue: Issue) -> bool:
    """Whether people or `ignore` say to leave it alone. `only_labels` decides what is looked at: who has sorted an
    issue takes such a label off, and may agree by another one at the same time."""
    config = visit.config.model_copy(update={"only_labels": ()})
    ignored = config.why_ignored(issue.author.login, issue.labels, issue.title) is not None
    return ignored or visit.muted


def _labeller(visit: Visit, since: float) -> str:
    """Who set the label since the announcement, if they have triage access; forms give labels in anybody's name."""
    last = last_set(visit)
    if last is None or last.at <= since or last.actor.is_bot:
        return ""
    return last.actor.login if visit.github.permission(visit.repo, last.actor.login).triage else ""
