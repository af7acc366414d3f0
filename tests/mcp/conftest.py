"""The server as `doppel mcp` builds it, on a simulated GitHub, and the SDK's own client."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client import Client
from mcp_types import CallToolResult

from bot.app.wiring.clients import build_github, reader
from bot.app.wiring.indexes import agent_tools, build_index
from bot.domain.entities import RepoRef, Repository
from bot.interfaces.mcp.server import build_server
from bot.platform.call_tracker import ToolCallTracker, set_tool_call_tracker
from bot.platform.settings import Settings
from bot.search.index import IndexedIssue
from bot.simulator import Server, Simulator, start_simulator
from bot.storage import open_store
from bot.storage.repositories import Progress
from tests.embeddings import text_model

__all__ = ["text_model"]

TRACE = "panic: index out of range [3] with length 3 in renderTable"

READING = {"find_duplicates", "check_draft", "explain_pair", "scan_backlog", "dedupe_playbook"}


@pytest.fixture
def simulator() -> Iterator[Server]:
    with start_simulator() as running:
        sim = running.sim
        sim.add_repository("acme/app")
        sim.open_issue("acme/app", "alice", "Table rendering panics with index out of range", f"It says\n\n    {TRACE}")
        sim.open_issue("acme/app", "bob", "Dark mode for the settings page", "My eyes hurt at night.")
        sim.open_issue("acme/app", "carol", "Panic: index out of range when rendering a table", f"```\n{TRACE}\n```")
        sim.open_issue("acme/app", "dave", "Rendering a table panics, index out of range", TRACE)
        sim.close_issue("acme/app", 4)
        sim.set_permission("acme/app", "rita", "triage")
        yield running
        assert sim.unknown_requests == []
        assert sim.violations == []


@pytest.fixture
def sim(simulator: Server) -> Simulator:
    return simulator.sim


@pytest.fixture
def tracker() -> Iterator[ToolCallTracker]:
    """The process's tracker, new for each test."""
    tracker = ToolCallTracker()
    set_tool_call_tracker(tracker)
    yield tracker
    set_tool_call_tracker(None)


@pytest.fixture
def settings(simulator: Server, tracker: ToolCallTracker, tmp_path: Path) -> Settings:
    return Settings(
        home=tmp_path,
        database_url=f"sqlite:///{tmp_path / 'doppel.db'}",
        github_api_url=simulator.url,
        github_token=simulator.sim.user_token("rita"),
        default_repository="acme/app",
    )


@pytest.fixture
def server(settings: Settings) -> Any:
    return build_server(agent_tools(settings), playbooks=True)


def fill_index(sim: Simulator, settings: Settings, *, done: bool = True) -> None:
    """Put all issues of acme/app into the index of this host, which then counts as complete if `done`."""
    repository, place = sim.repo("acme/app"), RepoRef("acme", "app")
    with closing(open_store(settings)) as store:
        store.repositories.upsert(Repository(repository.id, place, private=False), 1, 1.0)
        issues = reader(settings, build_github(settings), place).recent_issues(place, 100)
        build_index(settings, store).put(repository.id, [IndexedIssue.of(issue) for issue in issues])
        store.backfills.set(repository.id, Progress(done=done))


@dataclass
class Session:
    """A client whose requests are waited for."""

    portal: BlockingPortal
    client: Client

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *given, **named: self.portal.call(partial(getattr(self.client, name), *given, **named))


@contextmanager
def session(client: AbstractAsyncContextManager[Client]) -> Iterator[Session]:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client) as connected:
        yield Session(portal, connected)


def ask(server: Any, tool: str, mode: str = "auto", **arguments: Any) -> CallToolResult:
    """One call by a client of its own."""
    with session(Client(server, mode=mode)) as client:
        result: CallToolResult = client.call_tool(tool, arguments)
        return result


def answer(result: CallToolResult) -> dict[str, Any]:
    """The structured answer of a call that went well."""
    assert not result.is_error, result.content
    assert result.structured_content is not None
    content: dict[str, Any] = result.structured_content
    return content


def error(result: CallToolResult) -> str:
    """What a call that failed says."""
    assert result.is_error
    return " ".join(part.text for part in result.content if part.type == "text")
