"""`ProjectV2` and its items."""

from __future__ import annotations

from typing import Any

from bot.simulator.callers import InstallationCaller
from bot.simulator.graphql.connections import connection
from bot.simulator.graphql.errors import inaccessible
from bot.simulator.graphql.table import Info, Resolvers
from bot.simulator.http.context import Context
from bot.simulator.state.accounts import Account
from bot.simulator.state.issues import Issue
from bot.simulator.state.repositories import Project, ProjectItem

RESOLVERS = Resolvers()


def sees_projects(ctx: Context) -> bool:
    """Whether the caller may read organizations' projects. An installation needs a separate permission."""
    return not isinstance(ctx.caller, InstallationCaller) or ctx.caller.may("organization_projects", "read")


@RESOLVERS.add("Issue.projectItems")
def project_items(source: Issue, info: Info, **args: Any) -> dict[str, Any]:
    ctx = info.context
    page = connection("projectItems", ctx.sim.items[source.id], args)
    if not sees_projects(ctx):
        # GitHub hides the items, but not how many there are: each becomes an error.
        page["nodes"] = [inaccessible() for _ in page["nodes"]]
    return page


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
    target: Issue | None = info.context.sim.issues_by_id.get(source.issue_id)
    return target


@RESOLVERS.add("ProjectV2Item.fieldValueByName")
def field_value(source: ProjectItem, info: Info, name: str) -> dict[str, str] | None:
    value = source.values.get(name)
    if value is None:
        return None
    return {"name": value, "optionId": f"{source.project.fields[name].index(value):08x}"}
