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
    repo = event.repository
    if event.name in ALWAYS:
        body |= _installation(world, event.name, receiver, event.parts)
    elif event.name == "push" and repo is not None:
        body |= _push(world, repo, event.sender, event.parts)
    else:
        body |= {name: _json(world, value, repo) for name, value in event.parts.items()}
    if repo is not None:
        body.setdefault("repository", repository(world, repo))
        if repo.owner.type == "Organization":
            body["organization"] = organization(world, repo.owner)
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


def _json(world: World, value: Any, repo: Repository | None) -> Any:
    """The value as JSON. Issues and other records become objects, also inside a dict such as `changes`."""
    match value:
        case Issue():
            return issue(world, value)
        case Comment():
            return comment(world, value)
        case Label() if repo is not None:
            return label(world, repo, value)
        case Repository():
            return repository(world, value)
        case Account():
            return organization(world, value) if value.type == "Organization" else simple_user(world, value)
        case dict():
            return {name: _json(world, entry, repo) for name, entry in value.items()}
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


def _push(world: World, repo: Repository, sender: Account, parts: Mapping[str, Any]) -> Json:
    page = f"{world.urls.html}/{repo.full_name}"
    author = {"name": sender.login, "email": f"{sender.login}@users.noreply.github.com"}
    files = parts["files"]
    commit: Json = {
        "id": repo.head,
        # There are no Git trees; any hash will do.
        "tree_id": repo.head[::-1],
        "distinct": True,
        "message": parts["message"] or f"Change {', '.join(path for kind in files for path in files[kind])}",
        "timestamp": iso(repo.pushed_at),
        "url": f"{page}/commit/{repo.head}",
        "author": author | {"username": sender.login},
        "committer": author | {"username": sender.login},
        **{kind: files.get(kind, []) for kind in ("added", "removed", "modified")},
    }
    pushed = int(repo.pushed_at.timestamp())
    repo_json = repository(world, repo) | {
        "url": page,
        "created_at": int(repo.created_at.timestamp()),
        "pushed_at": pushed,
        "stargazers": 0,
        "master_branch": repo.default_branch,
    }
    if repo.owner.type == "Organization":
        repo_json["organization"] = repo.owner.login
    repo_json["owner"] = repo_json["owner"] | {"name": repo.owner.login, "email": None}
    return {
        "ref": f"refs/heads/{repo.default_branch}",
        "before": parts["before"],
        "after": repo.head,
        "repository": repo_json,
        "pusher": author,
        "created": parts["before"] == _NO_COMMIT,
        "deleted": False,
        "forced": False,
        "base_ref": None,
        "compare": f"{page}/compare/{parts['before'][:12]}...{repo.head[:12]}",
        "commits": [commit],
        "head_commit": commit,
    }
