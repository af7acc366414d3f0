"""Issues, comments, reactions and suggestions as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from bot.simulator.clock import iso, iso_or_none
from bot.simulator.payloads import Json
from bot.simulator.payloads.accounts import simple_user
from bot.simulator.payloads.apps import app
from bot.simulator.payloads.repositories import label, repository_url
from bot.simulator.state.accounts import Account
from bot.simulator.state.association import author_association
from bot.simulator.state.issues import REACTIONS, Comment, Issue, Reaction, Suggestion
from bot.simulator.state.world import World


def issue_url(world: World, record: Issue) -> str:
    """The issue's address in the API."""
    return f"{repository_url(world, record.repository)}/issues/{record.number}"


def issue_page(world: World, record: Issue) -> str:
    """The issue's address for people."""
    kind = "pull" if record.is_pull_request else "issues"
    return f"{world.urls.html}/{record.repository.full_name}/{kind}/{record.number}"


def via_app(world: World, author: Account) -> Json | None:
    """`performed_via_github_app`: the App, if the author is its bot."""
    record = world.app_of(author)
    return app(world, record) if record else None


def reaction_rollup(url: str, reactions: Sequence[Reaction]) -> Json:
    """The number of reactions of each kind."""
    counts = Counter(reaction.content for reaction in reactions)
    return {"url": f"{url}/reactions", "total_count": len(reactions), **{kind: counts[kind] for kind in REACTIONS}}


def issue(world: World, record: Issue) -> Json:
    """An issue as lists, searches and webhooks show it."""
    url = issue_url(world, record)
    page = issue_page(world, record)
    body: Json = {
        "url": url,
        "repository_url": repository_url(world, record.repository),
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "timeline_url": f"{url}/timeline",
        "html_url": page,
        "id": record.id,
        "node_id": record.node_id,
        "number": record.number,
        "title": record.title,
        "user": simple_user(world, record.author),
        "labels": [label(world, record.repository, entry) for entry in record.labels],
        "state": record.state,
        "state_reason": record.state_reason,
        "locked": record.locked,
        "active_lock_reason": record.lock_reason,
        "assignee": None,
        "assignees": [],
        "milestone": None,
        "comments": len(record.comments),
        "created_at": iso(record.created_at),
        "updated_at": iso(record.updated_at),
        "closed_at": iso_or_none(record.closed_at),
        "author_association": author_association(record.repository, record.author),
        "type": _type(record.type) if record.type else None,
        "body": record.body,
        "reactions": reaction_rollup(url, record.reactions),
        "sub_issues_summary": _sub_issues_summary(record),
        "issue_dependencies_summary": {"blocked_by": 0, "total_blocked_by": 0, "blocking": 0, "total_blocking": 0},
        "performed_via_github_app": via_app(world, record.author),
    }
    # Like GitHub, leave the field out if there is no parent.
    if record.parent and (parent := world.present(record.parent)):
        body["parent_issue_url"] = issue_url(world, parent)
    if record.is_pull_request:
        pull = f"{repository_url(world, record.repository)}/pulls/{record.number}"
        diff = {"html_url": page, "diff_url": f"{page}.diff", "patch_url": f"{page}.patch"}
        body |= {"draft": False, "pull_request": {"url": pull, **diff, "merged_at": iso_or_none(record.merged_at)}}
    return body


def _type(name: str) -> Json:
    """An issue type by its name, with a made-up id, since types are not stored."""
    return {"id": 1, "node_id": "IT_1", "name": name, "description": None}


def _sub_issues_summary(record: Issue) -> Json:
    """How many sub-issues there are, and how many of them are closed."""
    total, closed = len(record.parts), sum(part.state == "closed" for part in record.parts)
    return {"total": total, "completed": closed, "percent_completed": 100 * closed // max(total, 1)}


def full_issue(world: World, record: Issue) -> Json:
    """A single issue: the fields that lists show, and who closed it."""
    closer = simple_user(world, record.closed_by) if record.closed_by else None
    return issue(world, record) | {"closed_by": closer}


def comment(world: World, record: Comment) -> Json:
    """A comment on an issue."""
    url = f"{repository_url(world, record.issue.repository)}/issues/comments/{record.id}"
    return {
        "url": url,
        "html_url": f"{issue_page(world, record.issue)}#issuecomment-{record.id}",
        "issue_url": issue_url(world, record.issue),
        "id": record.id,
        "node_id": record.node_id,
        "user": simple_user(world, record.author),
        "created_at": iso(record.created_at),
        "updated_at": iso(record.updated_at),
        "author_association": author_association(record.issue.repository, record.author),
        "body": record.body,
        "reactions": reaction_rollup(url, record.reactions),
        "performed_via_github_app": via_app(world, record.author),
        "pin": None,
        "minimized": {"reason": record.minimized.lower()} if record.minimized else None,
    }


def reaction(world: World, record: Reaction) -> Json:
    """One reaction."""
    return {
        "id": record.id,
        "node_id": record.node_id,
        "user": simple_user(world, record.user),
        "content": record.content,
        "created_at": iso(record.created_at),
    }


def suggestion(record: Suggestion, subject: Issue) -> Json:
    """A suggestion to add a label to `subject`, or to close it as a duplicate."""
    label, target = record.label, record.label or record.original
    return {
        "id": record.id,
        "issue_id": subject.id,
        "action": "add_label" if label else "close_issue",
        "state": record.state,
        "target_id": target.id if target else None,
        "target_value": label.name if label else "duplicate",
        "rationale": record.rationale,
        "confidence": record.confidence.upper() if record.confidence else None,
        "actor_id": record.actor.id,
        "issue_event_id": None,
        "resolved_by": record.resolved_by.id if record.resolved_by else None,
        "created_at": iso(record.created_at),
        "updated_at": iso(record.updated_at),
    }
