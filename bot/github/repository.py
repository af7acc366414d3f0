"""What the bot reads and writes in a repository over REST."""

from __future__ import annotations

import base64
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from datetime import datetime
from functools import partial, wraps
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, cast
from urllib.parse import quote

from githubkit import Response
from githubkit.utils import UNSET

from bot.domain.entities import Actor, Comment, Issue, Permission, RepoRef, Repository
from bot.domain.errors import Invalid, InvalidArgument, NotFound
from bot.github import convert
from bot.github.batched_reads import closers, duplicate_of, originals, reactions, workflow_states
from bot.github.calls import PAGE, Api, operation
from bot.github.changes import changed_issues, count_issues, history, missing_issues
from bot.github.feedback import Confidence, fold, label_events, suggestions, unfold, votes
from bot.github.search import search, search_discussions, similar_issues, threads
from bot.platform.call_rules import equal
from bot.platform.call_tracker import ToolCallTracker

LARGEST_FILE = 1024 * 1024
"""Bytes of the largest file that is read; GitHub's contents API sends nothing larger within JSON."""

# Managed users have an underscore, and some old accounts a hyphen at the end; nobody has anything else.
_LOGIN = re.compile(r"[A-Za-z0-9_-]{1,100}")
_MOST_COMMENTS, _MOST_ISSUES_OF_ONE, _MOST_LABELS = 5_000, 1_000, 2_000


class Reads:
    """Reading operations. All raise Forbidden, RateLimited and Unavailable; NotFound if their docstring says so."""

    label_events = operation(label_events)
    suggestions = operation(suggestions)

    def __init__(self, api: Api) -> None:
        self._api = api

    def issue(self, repo: RepoRef, number: int) -> Issue:
        """One issue or pull request. Raises NotFound if it was deleted or transferred elsewhere.

        A renamed repository answers under its new name, which `Issue.repo` then is.
        """
        operation = f"read {repo}#{number}"
        data = self._api.call(operation, lambda: self._api.rest.issues.get(repo.owner, repo.name, number))
        issue = convert.issue(data)
        if issue.repo.key != repo.key and (issue.number != number or self.repository(repo).ref.key != issue.repo.key):
            # GitHub redirects from a transferred issue and from a renamed repository alike.
            raise NotFound(operation, 301, f"it was transferred to {issue.repo}#{issue.number}")
        return issue

    def check_token(self) -> None:
        """Raise Forbidden if GitHub refuses the token; costs nothing."""
        # An Enterprise Server without limits has no such page, but looks at the token first.
        with suppress(NotFound):
            self._api.call("read the limits", lambda: self._api.rest.rate_limit.get())

    def recent_issues(self, repo: RepoRef, limit: int) -> list[Issue]:
        """The issues opened last, newest first, open and closed, without pull requests: `limit` at most."""
        found: list[Issue] = []
        # In some repositories most entries are pull requests.
        most = max(10 * PAGE, 5 * limit)
        for data in self._issues(f"list the issues of {repo}", repo, most, direction="desc"):
            if len(found) >= limit:
                break
            if not data.get("pull_request"):
                found.append(convert.issue(data))
        return found

    def issues_of(self, repo: RepoRef, login: str) -> list[Issue]:
        """The issues that somebody opened, open and closed, without pull requests, the oldest first."""
        what = f"list the issues of {login} in {repo}"
        listed = self._issues(what, repo, _MOST_ISSUES_OF_ONE, creator=login, direction="asc")
        return [convert.issue(data) for data in listed if not data.get("pull_request")]

    def _issues(self, what: str, repo: RepoRef, most: int, **query: Any) -> Iterator[Any]:
        request = self._api.rest.issues.list_for_repo
        asked = partial(request, repo.owner, repo.name, state="all", sort="created", **query)
        return self._api.pages(what, asked, most=most)

    def comments(self, repo: RepoRef, number: int, since: datetime | None = None) -> list[Comment]:
        """The comments on an issue, oldest first, or those written or edited at `since` or later. Raises NotFound."""
        after = UNSET if since is None else since
        listed = self._api.pages(
            f"read the comments on {repo}#{number}",
            partial(self._api.rest.issues.list_comments, repo.owner, repo.name, number, since=after),
            most=_MOST_COMMENTS,
        )
        return [convert.comment(data) for data in listed]

    def comment(self, repo: RepoRef, comment_id: int) -> Comment:
        """Raises NotFound if it was deleted."""
        request = partial(self._api.rest.issues.get_comment, repo.owner, repo.name, comment_id)
        data = self._api.call(f"read comment {comment_id} in {repo}", request)
        return convert.comment(data)

    def permission(self, repo: RepoRef, login: str) -> Permission:
        """What somebody may do here (C5): nothing, for a bot or a name that nobody has."""
        if not _LOGIN.fullmatch(login):
            return Permission()
        request = partial(self._api.rest.repos.get_collaborator_permission_level, repo.owner, repo.name, login)
        try:
            data = self._api.call(f"read the permission of {login} in {repo}", request)
        except NotFound:
            return Permission()
        return convert.permission(data)

    def labels(self, repo: RepoRef) -> frozenset[str]:
        """The names of the repository's labels."""
        request = partial(self._api.rest.issues.list_labels_for_repo, repo.owner, repo.name)
        return frozenset(data["name"] for data in self._api.pages(f"list the labels of {repo}", request, _MOST_LABELS))

    def repository(self, repo: RepoRef) -> Repository:
        """The repository, under its present name if it was renamed. Raises NotFound."""
        data = self._api.call(f"read {repo}", lambda: self._api.rest.repos.get(repo.owner, repo.name))
        return convert.repository(data)

    def file(self, repo: RepoRef, path: str) -> str | None:
        """The text of a file on the default branch, if there is one. Raises Invalid beyond LARGEST_FILE bytes."""
        data = self._contents(repo, path)
        if not isinstance(data, dict) or data.get("type") != "file":
            return None
        if data["size"] > LARGEST_FILE or data.get("encoding") != "base64":
            raise Invalid(f"read {path} in {repo}", 413, f"the file has {data['size']} bytes, more than 1 MiB")
        return base64.b64decode(data["content"]).decode("utf-8", errors="replace")

    def directory(self, repo: RepoRef, path: str) -> list[str]:
        """The names in a folder of the default branch ("" is the root), those of folders with a slash at the end."""
        data = self._contents(repo, path, root=not path)
        ends = {"file": "", "dir": "/"}
        entries = data if isinstance(data, list) else []
        return [entry["name"] + ends[entry["type"]] for entry in entries if entry["type"] in ends]

    def _contents(self, repo: RepoRef, path: str, *, root: bool = False) -> object:
        if not root and any(part in ("", ".", "..") for part in path.split("/")):
            raise InvalidArgument("path", f"{path!r} is no path inside a repository")
        request = partial(self._api.rest.repos.get_content, repo.owner, repo.name, quote(path))
        try:
            return self._api.call(f"read {path or 'the root'} in {repo}", request)
        except NotFound:
            return None


Reaction = Literal["+1", "-1", "eyes", "confused", "rocket"]


class Writes(Reads):
    """Writing operations. All raise NotFound, Forbidden, Invalid, RateLimited and Unavailable.

    The client repeats all but `create_comment` and `create_issue`, within limits. If one of these two raises
    Unavailable, nobody knows whether the thing is there: look for its marker before trying again.
    """

    def create_comment(self, repo: RepoRef, number: int, body: str) -> Comment:
        method = self._api.rest.issues.create_comment
        return convert.comment(self._ask(f"comment on {repo}#{number}", repo, method, number, body=body))

    def update_comment(self, repo: RepoRef, comment_id: int, body: str) -> Comment:
        """Give a comment of the bot's own a new text."""
        method = self._api.rest.issues.update_comment
        return convert.comment(self._ask(f"edit comment {comment_id} in {repo}", repo, method, comment_id, body=body))

    def delete_comment(self, repo: RepoRef, comment_id: int) -> None:
        """Delete a comment, if it is still there."""
        with suppress(NotFound):
            operation = f"delete comment {comment_id} in {repo}"
            self._send(operation, repo, self._api.rest.issues.delete_comment, comment_id)

    def react(self, repo: RepoRef, comment_id: int, content: Reaction) -> Actor:
        """React to a comment; a reaction that is there already stays. Returns who reacted: the App itself."""
        method = self._api.rest.reactions.create_for_issue_comment
        data = self._ask(f"react to comment {comment_id} in {repo}", repo, method, comment_id, content=content)
        return convert.actor(data.get("user"))

    def unreact(self, repo: RepoRef, comment_id: int, content: Reaction, who: Actor) -> None:
        """Take `who`'s reaction off a comment, if there is one, and nobody else's."""
        operation, rest = f"take a reaction off comment {comment_id} in {repo}", self._api.rest.reactions
        given = self._ask(operation, repo, rest.list_for_issue_comment, comment_id, content=content, per_page=PAGE)
        key = next((one["id"] for one in given if convert.actor(one.get("user")) == who), None)
        if key is not None:
            # It may be gone by now.
            with suppress(NotFound):
                self._send(operation, repo, rest.delete_for_issue_comment, comment_id, key)

    def close_as_duplicate(self, repo: RepoRef, number: int, original_id: int) -> Issue:
        """Close an issue as GitHub's own kind of duplicate. `original_id` is the database id of the original."""
        change = {"state": "closed", "state_reason": "duplicate", "duplicate_issue_id": original_id}
        return self._update(f"close {repo}#{number} as a duplicate", repo, number, **change)

    def close(self, repo: RepoRef, number: int, reason: Literal["completed", "not_planned"]) -> Issue:
        """Close an issue, or give a closed one this reason."""
        return self._update(f"close {repo}#{number}", repo, number, state="closed", state_reason=reason)

    def reopen(self, repo: RepoRef, number: int) -> Issue:
        return self._update(f"reopen {repo}#{number}", repo, number, state="open", state_reason="reopened")

    def create_issue(self, repo: RepoRef, title: str, body: str) -> Issue:
        method = self._api.rest.issues.create
        return convert.issue(self._ask(f"open an issue in {repo}", repo, method, title=title, body=body))

    def edit_issue(self, repo: RepoRef, number: int, body: str) -> Issue:
        """Give an issue of the bot's own a new text."""
        return self._update(f"edit {repo}#{number}", repo, number, body=body)

    def add_labels(self, repo: RepoRef, number: int, names: Sequence[str]) -> None:
        """Add labels to those that an issue has. (Setting them with the issue would replace the others.)"""
        if names:
            self._send(f"label {repo}#{number}", repo, self._api.rest.issues.add_labels, number, labels=list(names))

    def suggest_label(self, repo: RepoRef, number: int, name: str, rationale: str, confidence: Confidence) -> None:
        """Propose a label to the maintainers. A repository without label suggestions would add it outright."""
        proposed = {"name": name, "rationale": rationale, "confidence": confidence, "suggest": True}
        operation = f"suggest a label on {repo}#{number}"
        self._send(operation, repo, self._api.rest.issues.add_labels, number, labels=[proposed])

    def suggest_closing(
        self, repo: RepoRef, number: int, original_id: int, rationale: str, confidence: Confidence
    ) -> None:
        """Propose to close an issue as a duplicate. A repository without suggestions answers well and does nothing."""
        state = {"value": "closed", "rationale": rationale, "confidence": confidence, "suggest": True}
        change = {"state": state, "state_reason": "duplicate", "duplicate_issue_id": original_id}

        def patch(owner: str, name: str) -> Response[Any, Any]:
            return self._api.github.request("PATCH", f"/repos/{owner}/{name}/issues/{number}", json=change)

        self._send(f"suggest closing {repo}#{number}", repo, patch)

    def remove_label(self, repo: RepoRef, number: int, name: str) -> None:
        """Take a label off an issue, if it is there."""
        # A name is one segment of the path; dots alone would climb to another address.
        segment = quote(name, safe="") if name.strip(".") else name.replace(".", "%2E")
        with suppress(NotFound):
            self._send(f"unlabel {repo}#{number}", repo, self._api.rest.issues.remove_label, number, segment)

    def _update(self, operation: str, repo: RepoRef, number: int, **change: Any) -> Issue:
        """Change an issue; fields that `change` does not name stay."""
        return convert.issue(self._ask(operation, repo, self._api.rest.issues.update, number, **change))

    def _ask(
        self, operation: str, repo: RepoRef, method: Callable[..., Response[Any, Any]], *path: Any, **given: Any
    ) -> Any:
        return self._api.read(operation, self._send(operation, repo, method, *path, **given))

    def _send(
        self, operation: str, repo: RepoRef, method: Callable[..., Response[Any, Any]], *path: Any, **given: Any
    ) -> Response[Any, Any]:
        """Write to a repository, also if it was renamed, but never to where an issue was transferred."""

        def send(at: RepoRef) -> Response[Any, Any]:
            return self._api.send(operation, partial(method, at.owner, at.name, *path, **given))

        try:
            return send(repo)
        except NotFound as problem:
            if problem.status in (404, 410):
                raise
            moved = problem
        present = self.repository(repo).ref
        if present.key == repo.key:
            raise moved
        return send(present)


P = ParamSpec("P")
R = TypeVar("R")


class RepoClient(Writes):
    """All that the bot reads and writes on GitHub as one installation. Thread safe."""

    search = operation(search)
    similar_issues = operation(similar_issues)
    discussions = operation(search_discussions)
    workflow_states = operation(workflow_states)
    closers = operation(closers)
    duplicate_of = operation(duplicate_of)
    originals = operation(originals)
    changed_issues = operation(changed_issues)
    count_issues = operation(count_issues)
    missing_issues = operation(missing_issues)
    history = operation(history)
    reactions = operation(reactions)
    votes = operation(votes)
    threads = operation(threads)
    fold = operation(fold)
    unfold = operation(unfold)

    def __init__(self, api: Api, tracker: ToolCallTracker) -> None:
        super().__init__(api)
        self._tracker = tracker

    def thread(self, key: str, *, fresh: bool = False) -> ThreadClient:
        """A client for one issue (`OWNER/REPO#N`) that caches its reads for some minutes (T5); `fresh` reads anew."""
        return ThreadClient(self._api, self._tracker, key, fresh=fresh)

    def forget_thread(self, key: str) -> None:
        """Forget what was read for a thread, because it has changed since."""
        self._tracker.clear_session(key)


def _cached(
    ask: Callable[Concatenate[RepoClient, P], R], unless: Callable[[R], Any] | None = None
) -> Callable[Concatenate[ThreadClient, P], R]:
    """A cached reading operation. It keeps no answer for which `unless` is true; a cached one has its `cached_at`."""
    tool, signature = f"github.{ask.__name__}", inspect.signature(ask)
    keep = None if unless is None else lambda result: not unless(result)

    @wraps(ask)
    def asked(client: ThreadClient, /, *args: P.args, **kwargs: P.kwargs) -> R:
        given = signature.bind(None, *args, **kwargs)
        given.apply_defaults()
        _, *known = given.arguments.items()
        arguments = {name: tuple(value) if isinstance(value, list) else value for name, value in known}
        # T5: the default rule for similar calls would take two issues of a repository for one.
        client._tracker.add_rule(tool, equal)
        answer = client._tracker.call(
            client._key, tool, arguments, partial(ask, client, *args, **kwargs), fresh=client._fresh, keep=keep
        )
        # The caller may change a list; the next answer must not have that.
        result: Any = copy(answer.result)
        if answer.cached and hasattr(result, "cached_at"):
            result = replace(result, cached_at=answer.at)
        return cast("R", result)

    return asked


class ThreadClient(RepoClient):
    """A RepoClient that caches searches, labels and files. What the bot acts upon (issues, comments, permissions, the
    repository) it always reads anew.
    """

    search = _cached(RepoClient.search, unless=lambda page: page.incomplete)
    similar_issues = _cached(RepoClient.similar_issues, unless=lambda found: not found.enabled)
    discussions = _cached(RepoClient.discussions, unless=lambda found: found.reason)
    workflow_states = _cached(RepoClient.workflow_states, unless=lambda answer: answer.reason)
    recent_issues = _cached(RepoClient.recent_issues)
    labels = _cached(RepoClient.labels)
    file = _cached(RepoClient.file)
    directory = _cached(RepoClient.directory)

    def __init__(self, api: Api, tracker: ToolCallTracker, key: str, *, fresh: bool) -> None:
        super().__init__(api, tracker)
        self._key = key
        self._fresh = fresh
