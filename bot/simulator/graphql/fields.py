"""Fields of single records: names that differ from ours, words in capitals, addresses."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from bot.simulator.access import in_sight, may_read, role_of
from bot.simulator.callers import InstallationCaller
from bot.simulator.graphql.connections import connection
from bot.simulator.graphql.errors import inaccessible
from bot.simulator.graphql.resolvers import Info, Resolvers, sees_projects
from bot.simulator.payloads.issues import issue_page
from bot.simulator.state.accounts import Account
from bot.simulator.state.association import author_association
from bot.simulator.state.discussions import Discussion
from bot.simulator.state.issues import REACTIONS, Comment, Issue, Reaction
from bot.simulator.state.repositories import Label, Project, ProjectItem, Repository

RESOLVERS = Resolvers()

# The order in which the enumeration ReactionContent has GitHub's emoji, by their REST names.
_CONTENT = {
    "+1": "THUMBS_UP",
    "-1": "THUMBS_DOWN",
    "laugh": "LAUGH",
    "confused": "CONFUSED",
    "heart": "HEART",
    "hooray": "HOORAY",
    "rocket": "ROCKET",
    "eyes": "EYES",
}
_TYPES = (
    "Bot",
    "User",
    "Organization",
    "Label",
    "Repository",
    "Issue",
    "PullRequest",
    "IssueComment",
    "Discussion",
    "Reaction",
)
_PROJECTS = ("ProjectV2", "ProjectV2Item")
_ISSUES = ("Issue", "PullRequest")


@RESOLVERS.add(*(f"{kind}.id" for kind in (*_TYPES, *_PROJECTS)))
def node_id(source: Any, info: Info) -> str:
    return str(source.node_id)


@RESOLVERS.add(*(f"{kind}.databaseId" for kind in (*_TYPES, *_PROJECTS) if kind != "Label"))
def database_id(source: Any, info: Info) -> int | None:
    # An Int of GraphQL has 32 bits; GitHub answers null where an id outgrew them.
    return source.id if source.id < 2**31 else None


@RESOLVERS.add("Issue.fullDatabaseId", "PullRequest.fullDatabaseId", "IssueComment.fullDatabaseId")
def full_database_id(source: Issue | Comment, info: Info) -> str:
    return str(source.id)


@RESOLVERS.add("Bot.login")
def bot_login(source: Account, info: Info) -> str:
    # GraphQL names an App's bot without the suffix that REST adds.
    return source.login.removesuffix("[bot]")


@RESOLVERS.add("Bot.url", "User.url", "Organization.url")
def account_url(source: Account, info: Info) -> str:
    ctx = info.context
    page = f"apps/{source.login.removesuffix('[bot]')}" if source.type == "Bot" else source.login
    return f"{ctx.sim.urls.html}/{page}"


@RESOLVERS.add("Label.url")
def label_url(source: Label, info: Info) -> str:
    ctx = info.context
    return f"{ctx.sim.urls.html}/{ctx.sim.home_of(source).full_name}/labels/{quote(source.name)}"


@RESOLVERS.add("Label.isDefault")
def is_default(source: Label, info: Info) -> bool:
    return source.default


@RESOLVERS.add("Repository.nameWithOwner")
def name_with_owner(source: Repository, info: Info) -> str:
    return source.full_name


@RESOLVERS.add("Repository.url")
def repository_url(source: Repository, info: Info) -> str:
    ctx = info.context
    return f"{ctx.sim.urls.html}/{source.full_name}"


@RESOLVERS.add("Repository.isPrivate")
def is_private(source: Repository, info: Info) -> bool:
    return source.private


@RESOLVERS.add("Repository.isArchived")
def is_archived(source: Repository, info: Info) -> bool:
    return source.archived


@RESOLVERS.add("Repository.hasIssuesEnabled")
def has_issues(source: Repository, info: Info) -> bool:
    return source.has_issues


@RESOLVERS.add("Repository.discussions")
def repository_discussions(source: Repository, info: Info, **args: Any) -> dict[str, Any]:
    ctx = info.context
    if not may_read(ctx.sim, ctx.caller, source, "discussions"):
        raise inaccessible()
    return connection("discussions", [one for one in ctx.sim.discussions.values() if one.repository is source], args)


@RESOLVERS.add("Discussion.url")
def discussion_url(source: Discussion, info: Info) -> str:
    return f"{info.context.sim.urls.html}/{source.repository.full_name}/discussions/{source.number}"


@RESOLVERS.add("Discussion.closed")
def discussion_closed(source: Discussion, info: Info) -> bool:
    return source.closed_at is not None


@RESOLVERS.add("Discussion.stateReason")
def discussion_state_reason(source: Discussion, info: Info) -> str | None:
    return source.state_reason.upper() if source.state_reason else None


@RESOLVERS.add("Discussion.isAnswered")
def is_answered(source: Discussion, info: Info) -> bool:
    return source.answered


@RESOLVERS.add("Repository.viewerPermission")
def viewer_permission(source: Repository, info: Info) -> str | None:
    ctx = info.context
    return None if isinstance(ctx.caller, InstallationCaller) else role_of(ctx.sim, ctx.caller, source).upper()


@RESOLVERS.add(*(f"{kind}.url" for kind in _ISSUES))
def issue_url(source: Issue, info: Info) -> str:
    return issue_page(info.context.sim, source)


@RESOLVERS.add("Issue.body", "Issue.bodyText", "PullRequest.body")
def body(source: Issue, info: Info) -> str:
    return source.body or ""


@RESOLVERS.add(*(f"{kind}.state" for kind in _ISSUES))
def state(source: Issue, info: Info) -> str:
    return "MERGED" if source.merged_at else source.state.upper()


@RESOLVERS.add(*(f"{kind}.closed" for kind in _ISSUES))
def closed(source: Issue, info: Info) -> bool:
    return source.state == "closed"


@RESOLVERS.add("Issue.stateReason")
def state_reason(source: Issue, info: Info, **args: Any) -> str | None:
    # Clients that do not know of duplicates are told something that they know.
    if source.state_reason == "duplicate" and not args.get("enableDuplicate"):
        return "NOT_PLANNED"
    return source.state_reason.upper() if source.state_reason else None


@RESOLVERS.add("Issue.duplicateOf")
def duplicate_of(source: Issue, info: Info) -> Issue | None:
    ctx, original = info.context, source.duplicate_of
    if source.state_reason != "duplicate" or original is None:
        return None
    return in_sight(ctx.sim, ctx.caller, original)


@RESOLVERS.add("Issue.activeLockReason")
def lock_reason(source: Issue, info: Info) -> str | None:
    return source.lock_reason.upper().replace("-", "_").replace(" ", "_") if source.lock_reason else None


@RESOLVERS.add(*(f"{kind}.authorAssociation" for kind in (*_ISSUES, "IssueComment")))
def association(source: Issue | Comment, info: Info) -> str:
    home = source.issue if isinstance(source, Comment) else source
    return author_association(home.repository, source.author)


@RESOLVERS.add(*(f"{kind}.viewerDidAuthor" for kind in (*_ISSUES, "IssueComment")))
def viewer_did_author(source: Issue | Comment, info: Info) -> bool:
    return source.author is info.context.caller.account


@RESOLVERS.add("Issue.reactionGroups", "IssueComment.reactionGroups")
def reaction_groups(source: Issue | Comment, info: Info) -> list[dict[str, Any]]:
    ctx = info.context
    groups = []
    for content in REACTIONS:
        givers = [reaction.user for reaction in source.reactions if reaction.content == content]
        users = {"totalCount": len(givers)}
        mine = ctx.caller.account in givers
        groups.append({"content": _CONTENT[content], "reactors": users, "users": users, "viewerHasReacted": mine})
    return groups


@RESOLVERS.add("Issue.reactions", "IssueComment.reactions")
def reactions(source: Issue | Comment, info: Info, **args: Any) -> dict[str, Any]:
    wanted = args.get("content")
    found = [one for one in source.reactions if wanted in (None, _CONTENT[one.content])]
    found.sort(key=lambda one: (one.created_at, one.id))
    if (args.get("orderBy") or {}).get("direction") == "DESC":
        found.reverse()
    mine = any(one.user is info.context.caller.account for one in source.reactions)
    return connection("reactions", found, args) | {"viewerHasReacted": mine}


@RESOLVERS.add("Reaction.content")
def reaction_content(source: Reaction, info: Info) -> str:
    return _CONTENT[source.content]


@RESOLVERS.add("Reaction.user")
def reaction_user(source: Reaction, info: Info) -> Account | None:
    # The field is a User; an App's bot is none.
    return source.user if source.user.type == "User" else None


@RESOLVERS.add("IssueComment.url")
def comment_url(source: Comment, info: Info) -> str:
    return f"{issue_page(info.context.sim, source.issue)}#issuecomment-{source.id}"


@RESOLVERS.add("IssueComment.isMinimized")
def is_minimized(source: Comment, info: Info) -> bool:
    return source.minimized is not None


@RESOLVERS.add("IssueComment.minimizedReason")
def minimized_reason(source: Comment, info: Info) -> str | None:
    return source.minimized.lower().replace("_", "-") if source.minimized else None


@RESOLVERS.add("Organization.projectV2")
def project(source: Account, info: Info, number: int) -> Project | None:
    if not sees_projects(info.context):
        raise inaccessible()
    projects = info.context.sim.projects.values()
    return next((entry for entry in projects if entry.owner is source and entry.number == number), None)


@RESOLVERS.add("ProjectV2.url")
def project_url(source: Project, info: Info) -> str:
    kind = "orgs" if source.owner.type == "Organization" else "users"
    return f"{info.context.sim.urls.html}/{kind}/{source.owner.login}/projects/{source.number}"


@RESOLVERS.add("ProjectV2.closed", "ProjectV2Item.isArchived")
def never(source: Any, info: Info) -> bool:
    return False


@RESOLVERS.add("ProjectV2Item.content")
def content(source: ProjectItem, info: Info) -> Issue | None:
    found: Issue | None = info.context.sim.issues_by_id.get(source.issue_id)
    return found


@RESOLVERS.add("ProjectV2Item.fieldValueByName")
def field_value(source: ProjectItem, info: Info, name: str) -> dict[str, str] | None:
    value = source.values.get(name)
    if value is None:
        return None
    return {"name": value, "optionId": f"{source.project.fields[name].index(value):08x}"}
