"""Webhook payloads (https://docs.github.com/webhooks/webhook-events-and-payloads)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.simulator.clock import iso
from bot.simulator.payloads import Json
from bot.simulator.payloads.accounts import organization, simple_user
from bot.simulator.payloads.apps import installation as installation_json
from bot.simulator.payloads.issues import comment, issue
from bot.simulator.payloads.repositories import label, minimal_repository, repository
from bot.simulator.state.accounts import Account, Installation
from bot.simulator.state.events import Event
from bot.simulator.state.issues import Comment, Issue
from bot.simulator.state.repositories import Label, Repository
from bot.simulator.state.world import World

# An App receives the events about its installations even without a subscription.
ALWAYS = frozenset({"installation", "installation_repositories"})

_NO_COMMIT = "0" * 40


def payload(world: World, event: Event, receiver: Installation) -> Json:
    """The body of the delivery to the installation `receiver`."""
    body: Json = {"action": event.action} if event.action else {}
    target = event.repository
    if event.name in ALWAYS:
        body |= _installation(world, event.name, receiver, event.parts)
    elif event.name == "push" and target is not None:
        body |= _push(world, target, event.sender, event.parts)
    else:
        body |= {name: _json(world, value, target) for name, value in event.parts.items()}
    if target is not None:
        body.setdefault("repository", repository(world, target))
        if target.owner.type == "Organization":
            body["organization"] = organization(world, target.owner)
    if event.name not in ALWAYS:
        body["installation"] = {"id": receiver.id, "node_id": receiver.node_id}
    body["sender"] = simple_user(world, event.sender)
    return body


def ping(world: World, hook_id: int, app_id: int, url: str, content_type: str, events: list[str]) -> Json:
    """The event that GitHub sends when a webhook is set up."""
    now = iso(world.now())
    config = {"content_type": content_type, "insecure_ssl": "0", "secret": "********", "url": url}
    hook = {"type": "App", "id": hook_id, "name": "web", "active": True, "events": events, "config": config}
    hook |= {"updated_at": now, "created_at": now, "app_id": app_id}
    hook["deliveries_url"] = f"{world.urls.api}/app/hook/deliveries"
    return {"zen": "Say it once, in one place.", "hook_id": hook_id, "hook": hook}


def _json(world: World, value: Any, target: Repository | None) -> Any:
    """The value as JSON: records become objects, also inside a dict such as `changes`."""
    match value:
        case Issue():
            return issue(world, value)
        case Comment():
            return comment(world, value)
        case Label() if target is not None:
            return label(world, target, value)
        case Repository():
            return repository(world, value)
        case Account():
            return organization(world, value) if value.type == "Organization" else simple_user(world, value)
        case dict():
            return {name: _json(world, entry, target) for name, entry in value.items()}
    return value


def _installation(world: World, name: str, receiver: Installation, parts: Mapping[str, Any]) -> Json:
    body: Json = {"installation": installation_json(world, receiver)}
    if name == "installation":
        repositories = parts.get("repositories", world.repositories_of(receiver))
        return body | {"repositories": [minimal_repository(repo) for repo in repositories]}
    body["repository_selection"] = body["installation"]["repository_selection"]
    body["repositories_added"] = [minimal_repository(repo) for repo in parts["added"]]
    body["repositories_removed"] = [minimal_repository(repo) for repo in parts["removed"]]
    return body | {"requester": None}


def _push(world: World, target: Repository, sender: Account, parts: Mapping[str, Any]) -> Json:
    page = f"{world.urls.html}/{target.full_name}"
    author = {"name": sender.login, "email": f"{sender.login}@users.noreply.github.com"}
    files = parts["files"]
    commit: Json = {
        "id": target.head,
        # There are no Git trees; any hash will do.
        "tree_id": target.head[::-1],
        "distinct": True,
        "message": parts["message"] or f"Change {', '.join(path for paths in files.values() for path in paths)}",
        "timestamp": iso(target.pushed_at),
        "url": f"{page}/commit/{target.head}",
        "author": author | {"username": sender.login},
        "committer": author | {"username": sender.login},
        **{kind: files.get(kind, []) for kind in ("added", "removed", "modified")},
    }
    pushed = int(target.pushed_at.timestamp())
    shown = repository(world, target) | {
        "url": page,
        "created_at": int(target.created_at.timestamp()),
        "pushed_at": pushed,
        "stargazers": 0,
        "master_branch": target.default_branch,
    }
    if target.owner.type == "Organization":
        shown["organization"] = target.owner.login
    shown["owner"] = shown["owner"] | {"name": target.owner.login, "email": None}
    return {
        "ref": f"refs/heads/{target.default_branch}",
        "before": parts["before"],
        "after": target.head,
        "repository": shown,
        "pusher": author,
        "created": parts["before"] == _NO_COMMIT,
        "deleted": False,
        "forced": False,
        "base_ref": None,
        "compare": f"{page}/compare/{parts['before'][:12]}...{target.head[:12]}",
        "commits": [commit],
        "head_commit": commit,
    }
