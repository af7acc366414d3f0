"""Events of an issue's history as JSON."""

from __future__ import annotations

from bot.simulator.clock import iso
from bot.simulator.payloads import Json
from bot.simulator.payloads.accounts import simple_user
from bot.simulator.payloads.issues import comment, issue, via_app
from bot.simulator.payloads.repositories import repository_url
from bot.simulator.state.issues import Issue, TimelineEvent
from bot.simulator.state.world import World


def event(world: World, subject: Issue, record: TimelineEvent, source: Issue | None = None) -> Json:
    """One event, with the fields of its kind. `source` is the issue that referred to `subject`, if one did."""
    actor = simple_user(world, record.actor)
    if record.event == "commented":
        return comment(world, record.data["comment"]) | {"event": "commented", "actor": actor}
    if source is not None:
        time = iso(record.created_at)
        origin = {"type": "issue", "issue": issue(world, source)}
        return {"event": record.event, "actor": actor, "created_at": time, "updated_at": time, "source": origin}
    body: Json = {
        "id": record.id,
        "node_id": record.node_id,
        "url": f"{repository_url(world, subject.repository)}/issues/events/{record.id}",
        "actor": actor,
        "event": record.event,
        "commit_id": None,
        "commit_url": None,
        "created_at": iso(record.created_at),
        "performed_via_github_app": via_app(world, record.actor),
    }
    data = record.data
    match record.event:
        case "labeled" | "unlabeled":
            body["label"] = {"name": data["label"].name, "color": data["label"].color}
        case "renamed":
            body["rename"] = {"from": data["before"], "to": data["after"]}
        case "locked" | "unlocked":
            body["lock_reason"] = data["lock_reason"]
        case "closed" | "reopened":
            body["state_reason"] = data["state_reason"]
            # `closer` is the merged pull request (an Issue) or a commit's hash (a str). The JSON shows only a hash.
            if isinstance(commit := data.get("closer"), str):
                body["commit_id"] = commit
                body["commit_url"] = f"{repository_url(world, subject.repository)}/commits/{commit}"
    return body
