"""Repositories and labels as JSON."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from bot.simulator.clock import iso
from bot.simulator.payloads import Json
from bot.simulator.payloads.accounts import simple_user
from bot.simulator.state.repositories import Label, Repository, Role, at_least
from bot.simulator.state.world import World

# The function `repository` appends these suffixes to the repository's API address. Many suffixes are URI templates.
_LINKS = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}


def repository_url(world: World, record: Repository) -> str:
    """The repository's address in the API."""
    return f"{world.urls.api}/repos/{record.full_name}"


def permissions(role: Role) -> dict[str, bool]:
    """A role's permissions as booleans."""
    return {
        "admin": at_least(role, "admin"),
        "maintain": at_least(role, "maintain"),
        "push": at_least(role, "write"),
        "triage": at_least(role, "triage"),
        "pull": at_least(role, "read"),
    }


def minimal_repository(record: Repository) -> Json:
    """The few fields of a repository in installation events."""
    return {
        "id": record.id,
        "node_id": record.node_id,
        "name": record.name,
        "full_name": record.full_name,
        "private": record.private,
    }


def repository(world: World, record: Repository, role: Role | None = None) -> Json:
    """A repository as lists and webhooks show it; with `role`, also that role's permissions."""
    url = repository_url(world, record)
    page = f"{world.urls.html}/{record.full_name}"
    body: dict[str, Any] = minimal_repository(record) | {
        "owner": simple_user(world, record.owner),
        "html_url": page,
        "description": record.description,
        "fork": False,
        "url": url,
        **{name: url + suffix for name, suffix in _LINKS.items()},
        "git_url": page.replace("https://", "git://", 1) + ".git",
        "ssh_url": f"git@github.com:{record.full_name}.git",
        "clone_url": f"{page}.git",
        "svn_url": page,
        "mirror_url": None,
        "homepage": None,
        "language": None,
        "license": None,
        "size": sum(map(len, record.files.values())) // 1024,
        "stargazers_count": 0,
        "watchers_count": 0,
        "watchers": 0,
        "forks_count": 0,
        "forks": 0,
        "open_issues_count": record.open_issues,
        "open_issues": record.open_issues,
        "default_branch": record.default_branch,
        "topics": [],
        "is_template": False,
        "has_issues": record.has_issues,
        "has_projects": True,
        "has_downloads": True,
        "has_wiki": False,
        "has_pages": False,
        "has_discussions": False,
        "has_pull_requests": True,
        "pull_request_creation_policy": "all",
        "allow_forking": True,
        "web_commit_signoff_required": False,
        "archived": record.archived,
        "disabled": False,
        "visibility": "private" if record.private else "public",
        "pushed_at": iso(record.pushed_at),
        "created_at": iso(record.created_at),
        "updated_at": iso(record.updated_at),
    }
    if role is not None:
        body["permissions"] = permissions(role)
    return body


def full_repository(world: World, record: Repository) -> Json:
    """The answer to `GET /repos/{owner}/{repo}`."""
    body = repository(world, record) | {"network_count": 0, "subscribers_count": 0, "temp_clone_token": None}
    if record.owner.type == "Organization":
        body["organization"] = simple_user(world, record.owner)
    return body


def label(world: World, repo: Repository, record: Label) -> Json:
    """A label."""
    return {
        "id": record.id,
        "node_id": record.node_id,
        "url": f"{repository_url(world, repo)}/labels/{quote(record.name, safe='')}",
        "name": record.name,
        "color": record.color,
        "default": record.default,
        "description": record.description,
        "archived_at": None,
        "archived_by": None,
    }
