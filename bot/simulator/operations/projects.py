"""Organization projects, and the status of issues on them."""

from __future__ import annotations

from collections.abc import Mapping

from bot.simulator.operations.accounts import who
from bot.simulator.state.ids import node_id
from bot.simulator.state.repositories import Project, ProjectItem, Repository
from bot.simulator.state.world import World, locked


@locked
def add_project(world: World, owner: str, title: str, fields: Mapping[str, list[str]]) -> Project:
    """A project with single-select fields, e.g. `{"Status": ["Todo", "Done"]}`."""
    account = who(world, owner, "Organization")
    key = world.ids.next("project")
    number = 1 + sum(project.owner is account for project in world.projects.values())
    created = Project(key, node_id("PVT", account.id, key), account, number, title, dict(fields))
    world.projects[key] = created
    world.nodes[created.node_id] = created
    return created


@locked
def set_status(
    world: World, project: Project, repository: str | Repository, number: int, value: str, field: str = "Status"
) -> ProjectItem:
    """Set an issue's `field` in the project to `value`. Adds the issue to the project if needed."""
    if value not in project.fields.get(field, []):
        raise ValueError(f"{field} of {project.title} has no option {value!r}")
    issue = world.issue(repository, number)
    item = next((item for item in world.items[issue.id] if item.project is project), None)
    if item is None:
        key = world.ids.next("item")
        item = ProjectItem(key, node_id("PVTI", project.id, key), project, issue.id)
        world.items[issue.id].append(item)
        world.nodes[item.node_id] = item
    item.values[field] = value
    return item
