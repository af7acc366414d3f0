"""What all operations share: the lock, who acts, and what a text sets off."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from bot.simulator import references
from bot.simulator.state.accounts import Account, AccountType
from bot.simulator.state.ids import node_id
from bot.simulator.state.issues import Issue, TimelineEvent
from bot.simulator.state.repositories import Repository, at_least
from bot.simulator.state.world import World

P = ParamSpec("P")
R = TypeVar("R")
W = TypeVar("W", bound=World)

_PREFIX = {"User": "U", "Organization": "O", "Bot": "BOT"}


def locked(method: Callable[Concatenate[W, P], R]) -> Callable[Concatenate[W, P], R]:
    """Hold the world's lock during the call."""

    @functools.wraps(method)
    def call(self: W, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self.lock:
            return method(self, *args, **kwargs)

    return call


class Operations(World):
    """The common ground of the operations."""

    def who(self, actor: str | Account, type: AccountType = "User") -> Account:
        """The account meant; an unknown login becomes a new one, so that tests need not announce everybody."""
        if isinstance(actor, Account):
            return actor
        found = self.accounts.get(actor.lower())
        if found is None:
            key = self.ids.next("account")
            found = Account(key, node_id(_PREFIX[type], key), actor, type, self.now())
            self.accounts[actor.lower()] = found
            self.nodes[found.node_id] = found
        return found

    def repo(self, repository: str | Repository) -> Repository:
        """The repository meant, by record or by (present or former) name."""
        return repository if isinstance(repository, Repository) else self.repository(repository)

    def record(self, issue: Issue, event: str, actor: Account, **data: Any) -> TimelineEvent:
        """Append to the issue's history."""
        key = self.ids.next("event")
        entry = TimelineEvent(key, node_id("EV", issue.id, key), event, actor, self.now(), data)
        issue.events.append(entry)
        return entry

    def touch(self, issue: Issue) -> None:
        """The issue changed: its time, and its place in the search index."""
        issue.updated_at = max(self.now(), issue.updated_at)
        self.unindexed.add(issue.id)

    def forget(self, issue: Issue) -> None:
        """Drop an issue and its comments from every look-up except its repository's list."""
        self.issues_by_id.pop(issue.id, None)
        self.nodes.pop(issue.node_id, None)
        self.unindexed.add(issue.id)
        for comment in issue.comments:
            self.comments_by_id.pop(comment.id, None)
            self.nodes.pop(comment.node_id, None)

    def administrator(self, owner: Account) -> Account:
        """Who acts for an account: the user, or somebody who runs the organization."""
        return owner if owner.type == "User" else self.who(f"{owner.login}-admin")

    def act_on_text(self, issue: Issue, actor: Account, text: str | None, *, is_comment: bool) -> None:
        """Mentions, back-links and "Duplicate of #1" in a text that was just written."""
        found = references.parse(text or "", self.urls.html)
        for login in found.mentions:
            account = self.account(login)
            if account is not None:
                self.record(issue, "mentioned", account)
                self.record(issue, "subscribed", account)
        for name, number in found.issues:
            target = self._visible(issue, actor, name, number)
            if target is not None and target is not issue and not self._already_linked(target, issue):
                self.record(target, "cross-referenced", actor, source=issue)
        if is_comment and found.duplicate_of and at_least(self.role_of(issue.repository, actor), "write"):
            original = self._visible(issue, actor, *found.duplicate_of)
            if original is not None and original is not issue:
                issue.duplicate_of = original
                self.record(issue, "marked_as_duplicate", actor, canonical=original)

    def role_of(self, repository: Repository, account: Account) -> Any:
        """An account's role; an App's bot counts as one who may write where its installation may write issues."""
        app = self.app_of(account)
        if app is None:
            return self.role(repository, account)
        installation = self.installation_for(app, repository)
        if installation is None:
            return "read" if not repository.private else "none"
        return "write" if installation.permissions.get("issues") == "write" else "read"

    def _visible(self, issue: Issue, actor: Account, name: str | None, number: int) -> Issue | None:
        """What a text refers to: nothing where its author must not look."""
        try:
            repository = self.repository(name) if name else issue.repository
            found = self.issue(repository, number)
        except KeyError:
            return None
        return found if self.role_of(repository, actor) != "none" else None

    @staticmethod
    def _already_linked(target: Issue, source: Issue) -> bool:
        return any(e.event == "cross-referenced" and e.data["source"] is source for e in target.events)
