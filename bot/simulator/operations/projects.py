"""Organization projects, and the state of issues on them."""

from __future__ import annotations

from collections.abc import Mapping

from bot.simulator.operations.base import Operations, locked
from bot.simulator.state.ids import node_id
from bot.simulator.state.repositories import Project, ProjectItem, Repository


class ProjectOperations(Operations):
    """Organization projects with single-select fields."""

    @locked
    def add_project(self, owner: str, title: str, fields: Mapping[str, list[str]]) -> Project:
        """A project with single-select fields, e.g. `{"Status": ["Todo", "Done"]}`."""
        account = self.who(owner, "Organization")
        key = self.ids.next("project")
        number = 1 + sum(project.owner is account for project in self.projects.values())
        made = Project(key, node_id("PVT", account.id, key), account, number, title, dict(fields))
        self.projects[key] = made
        self.nodes[made.node_id] = made
        return made

    @locked
    def set_status(
        self, project: Project, repository: str | Repository, number: int, value: str, field: str = "Status"
    ) -> ProjectItem:
        """Put an issue on the project (once) and choose an option of one of its fields."""
        if value not in project.fields.get(field, []):
            raise ValueError(f"{field} of {project.title} has no option {value!r}")
        issue = self.issue(repository, number)
        item = next((item for item in self.items[issue.id] if item.project is project), None)
        if item is None:
            key = self.ids.next("item")
            item = ProjectItem(key, node_id("PVTI", project.id, key), project, issue.id)
            self.items[issue.id].append(item)
            self.nodes[item.node_id] = item
        item.values[field] = value
        return item
