"""A repository whose workflow is the guide's, on a simulated GitHub."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bot.simulator import Server, Simulator, start_simulator
from bot.simulator.simulator import WORKFLOW
from bot.simulator.state.issues import Comment, Issue
from tests.action.runner import Ran, Runner

BOT = "github-actions[bot]"
_owners = itertools.count(1)


@dataclass
class Project:
    """One repository. What people do in it starts the workflow, and has its job run before it returns."""

    server: Server
    repo: str
    runner: Runner
    permissions: Mapping[str, str] = field(default_factory=lambda: WORKFLOW)
    ran: list[Ran] = field(default_factory=list)
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    @property
    def sim(self) -> Simulator:
        return self.server.sim

    @property
    def last(self) -> Ran:
        return self.ran[-1]

    def open(self, title: str, body: str = "", author: str = "reporter") -> Issue:
        issue = self.sim.open_issue(self.repo, author, title, body)
        self.settle()
        return issue

    def write(self, number: int, text: str, login: str = "triager") -> Comment:
        comment = self.sim.comment(self.repo, number, login, text)
        self.settle()
        return comment

    def settle(self) -> None:
        """Run the jobs of what has happened, and of what these cause."""
        self.sim.webhooks.join()
        while self.events:
            event, payload = self.events.pop(0)
            if self.runner.wants(event, payload):
                self.run(event, payload)
            self.sim.webhooks.join()

    def run(self, event: str, payload: Mapping[str, Any], *, again: bool = False) -> Ran:
        token = self.sim.workflow_token(self.repo, self.permissions)
        self.ran.append(self.runner.run(event, payload, token, again=again))
        return self.ran[-1]

    def nightly(self) -> Ran:
        return self.run("schedule", {"schedule": "17 3 * * *"})

    def ask(self, task: str) -> Ran:
        return self.run("workflow_dispatch", {"inputs": {"task": task}})

    def said(self, number: int) -> list[str]:
        return [one.body for one in self.sim.comments(self.repo, number) if one.author.login == BOT]

    def writes(self) -> int:
        """How often the token has written content."""
        return sum(len(made) for made in self.sim.limits._created.values())


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with start_simulator() as running:
        yield running
        assert running.sim.unknown_requests == []
        assert running.sim.violations == []


@pytest.fixture
def project(server: Server, tmp_path: Path) -> Iterator[Project]:
    yield from make_project(server, tmp_path)


def make_project(server: Server, folder: Path, program: Path | None = None) -> Iterator[Project]:
    repo = f"acme-{next(_owners)}/app"
    server.sim.add_repository(repo)
    server.sim.set_permission(repo, "triager", "triage")
    project = Project(server, repo, Runner(server.url, repo, folder, program))
    with listening(server, repo, project.events):
        yield project


@contextmanager
def listening(server: Server, repo: str, events: list[tuple[str, dict[str, Any]]]) -> Iterator[None]:
    """Add to `events` what GitHub starts workflows for: the name and the payload, as a runner is given them."""
    sim = server.sim
    sim.workflow_token(repo)
    actions, post = next(app for app in sim.apps.values() if app.slug == "github-actions"), sim.webhooks.post

    def take(url: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, Mapping[str, str], str]:
        if url != actions.hook.url:
            return post(url, body, headers)
        payload = json.loads(body)
        del payload["installation"]
        events.append((headers["X-GitHub-Event"], payload))
        return 200, {}, ""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(actions.hook, "url", "http://runner.example/")
        patch.setattr(sim.webhooks, "post", take)
        yield
        sim.webhooks.join()
