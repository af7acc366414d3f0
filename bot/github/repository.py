"""Reads and writes a repository by REST. `RepoClient` also has the functions of other modules as methods."""

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
from typing import Any, Concatenate, Literal, cast
from urllib.parse import quote

from githubkit import Response
from githubkit.utils import UNSET

from bot.domain.entities import Actor, Comment, Issue, Permission, RepoRef, Repository
from bot.domain.errors import Invalid, InvalidArgument, NotFound
from bot.github import convert
from bot.github.batched_reads import closers, duplicate_of, originals, reactions, workflow_states
from bot.github.calls import PAGE, Api, P, T, as_method
from bot.github.changes import changed_issues, count_issues, history, missing_issues
from bot.github.feedback import Confidence, fold, label_events, suggestions, unfold, votes
from bot.github.search import search, search_discussions, similar_issues, threads
from bot.platform.call_rules import equal
from bot.platform.call_tracker import ToolCallTracker
from bot.platform.metrics import CALLS

LARGEST_FILE = 1024 * 1024
"""The size of the largest file to read, in bytes. GitHub's contents API sends no larger file within JSON."""

# Logins of managed users contain an underscore, and some old logins end in a hyphen.
_LOGIN = re.compile(r"[A-Za-z0-9_-]{1,100}")
_MOST_COMMENTS, _MOST_BY_AUTHOR, _MOST_LABELS = 5_000, 1_000, 2_000

Reaction = Literal["+1", "-1", "eyes", "confused", "rocket"]


class RepoClient:
    """All of the bot's reading and writing on GitHub as one identity. Thread safe.

    All operations raise Forbidden, RateLimited and Unavailable. Writes also raise NotFound and Invalid. The
    docstring of a read says whether it raises NotFound. The client retries all operations except `create_comment` and
    `create_issue`. If one of these two raises Unavailable, the comment or issue may exist: before trying again, look
    for the hidden marker in its first line.
    """

    label_events = as_method(label_events)
    suggestions = as_method(suggestions)
    search = as_method(search)
    similar_issues = as_method(similar_issues)
    discussions = as_method(search_discussions)
    workflow_states = as_method(workflow_states)
    closers = as_method(closers)
    duplicate_of = as_method(duplicate_of)
    originals = as_method(originals)
    changed_issues = as_method(changed_issues)
    count_issues = as_method(count_issues)
    missing_issues = as_method(missing_issues)
    history = as_method(history)
    reactions = as_method(reactions)
    votes = as_method(votes)
    threads = as_method(threads)
    fold = as_method(fold)
    unfold = as_method(unfold)

    def __init__(self, api: Api, tracker: ToolCallTracker) -> None:
        self._api = api
        self._tracker = tracker

    def thread(self, key: str, *, fresh: bool = False) -> ThreadClient:
        """A client that caches reads for minutes. `key` names an issue or a session (T5). `fresh` skips the cache."""
        return ThreadClient(self._api, self._tracker, key, fresh=fresh)

    def forget_thread(self, key: str) -> None:
        """Drop the reads cached under `key`, because they are out of date."""
        self._tracker.clear_session(key)

    def issue(self, repo: RepoRef, number: int) -> Issue:
        """An issue or pull request; `Issue.repo` has the present name. Raises NotFound after deletion or transfer."""
        operation = f"read {repo}#{number}"
        data = self._api.call(operation, lambda: self._api.rest.issues.get(repo.owner, repo.name, number))
        issue = convert.issue(data)
        if issue.repo.key != repo.key:
            # GitHub redirected: the repository was renamed, or the issue was transferred. After a renaming, the issue
            # has its old number, and the old name leads to the issue's repository.
            renamed = issue.number == number and self.repository(repo).ref.key == issue.repo.key
            if not renamed:
                raise NotFound(operation, 301, f"it was transferred to {issue.repo}#{issue.number}")
        return issue

    def check_token(self) -> None:
        """Raise Forbidden if GitHub refuses the token. Does not count towards a rate limit."""
        # An Enterprise Server without limits answers 404, but checks the token first.
        with suppress(NotFound):
            self._api.call("read the limits", lambda: self._api.rest.rate_limit.get())

    def recent_issues(self, repo: RepoRef, limit: int) -> list[Issue]:
        """The latest `limit` issues, newest first, open and closed, without pull requests. Raises NotFound."""
        found: list[Issue] = []
        # Read more entries than `limit`, because in some repositories most entries are pull requests.
        most = max(10 * PAGE, 5 * limit)
        for data in self._issues(f"list the issues of {repo}", repo, most, direction="desc"):
            if len(found) >= limit:
                break
            if not data.get("pull_request"):
                found.append(convert.issue(data))
        return found

    def issues_of(self, repo: RepoRef, login: str) -> list[Issue]:
        """The issues that `login` opened, oldest first, open and closed, without pull requests. Raises NotFound."""
        operation = f"list the issues of {login} in {repo}"
        listed = self._issues(operation, repo, _MOST_BY_AUTHOR, creator=login, direction="asc")
        return [convert.issue(data) for data in listed if not data.get("pull_request")]

    def _issues(self, operation: str, repo: RepoRef, most: int, **query: Any) -> Iterator[Any]:
        method = self._api.rest.issues.list_for_repo
        request = partial(method, repo.owner, repo.name, state="all", sort="created", **query)
        return self._api.pages(operation, request, most=most)

    def comments(self, repo: RepoRef, number: int, since: datetime | None = None) -> list[Comment]:
        """The comments on an issue, oldest first; with `since`, only those edited then or later. Raises NotFound."""
        listed = self._api.pages(
            f"read the comments on {repo}#{number}",
            partial(self._api.rest.issues.list_comments, repo.owner, repo.name, number, since=since or UNSET),
            most=_MOST_COMMENTS,
        )
        return [convert.comment(data) for data in listed]

    def comment(self, repo: RepoRef, comment_id: int) -> Comment:
        """A comment. Raises NotFound if the comment was deleted."""
        request = partial(self._api.rest.issues.get_comment, repo.owner, repo.name, comment_id)
        data = self._api.call(f"read comment {comment_id} in {repo}", request)
        return convert.comment(data)

    def permission(self, repo: RepoRef, login: str) -> Permission:
        """A person's access to the repository (C5). Bots and unknown logins have no access."""
        if not _LOGIN.fullmatch(login):
            return Permission()
        request = partial(self._api.rest.repos.get_collaborator_permission_level, repo.owner, repo.name, login)
        try:
            data = self._api.call(f"read the permission of {login} in {repo}", request)
        except NotFound:
            return Permission()
        return convert.permission(data)

    def labels(self, repo: RepoRef) -> frozenset[str]:
        """The names of the repository's labels. Raises NotFound."""
        request = partial(self._api.rest.issues.list_labels_for_repo, repo.owner, repo.name)
        return frozenset(data["name"] for data in self._api.pages(f"list the labels of {repo}", request, _MOST_LABELS))

    def repository(self, repo: RepoRef) -> Repository:
        """The repository, under its present name. Raises NotFound."""
        data = self._api.call(f"read {repo}", lambda: self._api.rest.repos.get(repo.owner, repo.name))
        return convert.repository(data)

    def file(self, repo: RepoRef, path: str) -> str | None:
        """The text of a file on the default branch, or None. Raises Invalid for more than LARGEST_FILE bytes."""
        data = self._contents(repo, path)
        if not isinstance(data, dict) or data.get("type") != "file":
            return None
        if data["size"] > LARGEST_FILE or data.get("encoding") != "base64":
            raise Invalid(f"read {path} in {repo}", 413, f"the file has {data['size']} bytes, more than 1 MiB")
        return base64.b64decode(data["content"]).decode("utf-8", errors="replace")

    def directory(self, repo: RepoRef, path: str) -> list[str]:
        """The names in a folder of the default branch ("" is the root). Names of folders end in a slash."""
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

    def create_comment(self, repo: RepoRef, number: int, body: str) -> Comment:
        method = self._api.rest.issues.create_comment
        return convert.comment(self._ask(f"comment on {repo}#{number}", repo, method, number, body=body))

    def update_comment(self, repo: RepoRef, comment_id: int, body: str) -> Comment:
        method = self._api.rest.issues.update_comment
        return convert.comment(self._ask(f"edit comment {comment_id} in {repo}", repo, method, comment_id, body=body))

    def delete_comment(self, repo: RepoRef, comment_id: int) -> None:
        """Delete a comment, if it still exists."""
        with suppress(NotFound):
            operation = f"delete comment {comment_id} in {repo}"
            self._send(operation, repo, self._api.rest.issues.delete_comment, comment_id)

    def react(self, repo: RepoRef, comment_id: int, content: Reaction) -> Actor:
        """React to a comment, unless the reaction exists already. Returns the account that reacted."""
        method = self._api.rest.reactions.create_for_issue_comment
        data = self._ask(f"react to comment {comment_id} in {repo}", repo, method, comment_id, content=content)
        return convert.actor(data.get("user"))

    def unreact(self, repo: RepoRef, comment_id: int, content: Reaction, who: Actor) -> None:
        """Remove `who`'s reaction from a comment, if it exists."""
        operation = f"take a reaction off comment {comment_id} in {repo}"
        rest = self._api.rest.reactions
        existing = self._ask(operation, repo, rest.list_for_issue_comment, comment_id, content=content, per_page=PAGE)
        own = next((data["id"] for data in existing if convert.actor(data.get("user")) == who), None)
        if own is not None:
            with suppress(NotFound):
                self._send(operation, repo, rest.delete_for_issue_comment, comment_id, own)

    def close_as_duplicate(self, repo: RepoRef, number: int, original_id: int) -> Issue:
        """Close an issue with GitHub's reason "duplicate". `original_id` is the database id of the original."""
        change = {"state": "closed", "state_reason": "duplicate", "duplicate_issue_id": original_id}
        return self._update(f"close {repo}#{number} as a duplicate", repo, number, **change)

    def close(self, repo: RepoRef, number: int, reason: Literal["completed", "not_planned"]) -> Issue:
        """Close an issue, or change the reason of a closed issue."""
        return self._update(f"close {repo}#{number}", repo, number, state="closed", state_reason=reason)

    def reopen(self, repo: RepoRef, number: int) -> Issue:
        return self._update(f"reopen {repo}#{number}", repo, number, state="open", state_reason="reopened")

    def create_issue(self, repo: RepoRef, title: str, body: str) -> Issue:
        method = self._api.rest.issues.create
        return convert.issue(self._ask(f"open an issue in {repo}", repo, method, title=title, body=body))

    def edit_issue(self, repo: RepoRef, number: int, body: str) -> Issue:
        return self._update(f"edit {repo}#{number}", repo, number, body=body)

    def add_labels(self, repo: RepoRef, number: int, names: Sequence[str]) -> None:
        """Add labels to the issue's other labels. An update of the issue would replace all its labels."""
        if names:
            self._send(f"label {repo}#{number}", repo, self._api.rest.issues.add_labels, number, labels=list(names))

    def suggest_label(self, repo: RepoRef, number: int, name: str, rationale: str, confidence: Confidence) -> None:
        """Suggest a label to the maintainers. Without support for suggestions, GitHub would add the label outright."""
        proposed = {"name": name, "rationale": rationale, "confidence": confidence, "suggest": True}
        operation = f"suggest a label on {repo}#{number}"
        self._send(operation, repo, self._api.rest.issues.add_labels, number, labels=[proposed])

    def suggest_closing(
        self, repo: RepoRef, number: int, original_id: int, rationale: str, confidence: Confidence
    ) -> None:
        """Suggest closing an issue as a duplicate. Without support for suggestions, GitHub silently does nothing."""
        state = {"value": "closed", "rationale": rationale, "confidence": confidence, "suggest": True}
        change = {"state": state, "state_reason": "duplicate", "duplicate_issue_id": original_id}

        def patch(owner: str, name: str) -> Response[Any, Any]:
            return self._api.github.request("PATCH", f"/repos/{owner}/{name}/issues/{number}", json=change)

        self._send(f"suggest closing {repo}#{number}", repo, patch)

    def remove_label(self, repo: RepoRef, number: int, name: str) -> None:
        """Remove a label from an issue, if the issue has the label."""
        # Escape slashes, and a name of only dots (".."): they would not stay one path segment.
        segment = name.replace(".", "%2E") if name.strip(".") == "" else quote(name, safe="")
        with suppress(NotFound):
            self._send(f"unlabel {repo}#{number}", repo, self._api.rest.issues.remove_label, number, segment)

    def _update(self, operation: str, repo: RepoRef, number: int, **change: Any) -> Issue:
        return convert.issue(self._ask(operation, repo, self._api.rest.issues.update, number, **change))

    def _ask(
        self, operation: str, repo: RepoRef, method: Callable[..., Response[Any, Any]], *path: Any, **fields: Any
    ) -> Any:
        """Send like `_send`, and return the data in GitHub's answer."""
        return self._api.read(operation, self._send(operation, repo, method, *path, **fields))

    def _send(
        self, operation: str, repo: RepoRef, method: Callable[..., Response[Any, Any]], *path: Any, **fields: Any
    ) -> Response[Any, Any]:
        """Write to a repository under its present name, but never to the new place of a transferred issue."""

        def send(at: RepoRef) -> Response[Any, Any]:
            return self._api.send(operation, partial(method, at.owner, at.name, *path, **fields))

        try:
            return send(repo)
        except NotFound as problem:
            if problem.status in (404, 410):
                raise  # Any other status is a redirect.
            redirect = problem
        present = self.repository(repo).ref
        # If the repository still has its name, GitHub redirected because the issue was transferred.
        if present.key == repo.key:
            raise redirect
        return send(present)


def _cached(
    method: Callable[Concatenate[RepoClient, P], T], uncached_if: Callable[[T], Any] | None = None
) -> Callable[Concatenate[ThreadClient, P], T]:
    """Cache a method's answers, except those for which `uncached_if` is true. A reused answer gets `cached_at`."""
    tool, signature = f"github.{method.__name__}", inspect.signature(method)
    keep = None if uncached_if is None else lambda result: not uncached_if(result)

    @wraps(method)
    def cached(client: ThreadClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        bound = signature.bind(client, *args, **kwargs)
        bound.apply_defaults()
        _client, *named = bound.arguments.items()
        arguments = {name: tuple(value) if isinstance(value, list) else value for name, value in named}
        # The tracker's default rule could reuse an answer about another issue of the repository (T5).
        client._tracker.add_rule(tool, equal)
        answer = client._tracker.call(
            client._key, tool, arguments, partial(method, client, *args, **kwargs), fresh=client._fresh, keep=keep
        )
        CALLS.labels(tool, "memory" if answer.cached else "github").inc()
        # Copy, because the caller may change a list, and the next answer must not contain the change.
        result: Any = copy(answer.result)
        if answer.cached and hasattr(result, "cached_at"):
            result = replace(result, cached_at=answer.at)
        return cast("T", result)

    return cached


class ThreadClient(RepoClient):
    """A RepoClient that caches searches, lists of recent issues, workflow states, labels and files.

    It never caches the state that the bot acts upon: single issues, comments, permissions and the repository.
    """

    search = _cached(RepoClient.search, uncached_if=lambda page: page.incomplete)
    similar_issues = _cached(RepoClient.similar_issues, uncached_if=lambda found: not found.enabled)
    discussions = _cached(RepoClient.discussions, uncached_if=lambda found: found.reason)
    workflow_states = _cached(RepoClient.workflow_states, uncached_if=lambda answer: answer.reason)
    recent_issues = _cached(RepoClient.recent_issues)
    labels = _cached(RepoClient.labels)
    file = _cached(RepoClient.file)
    directory = _cached(RepoClient.directory)

    def __init__(self, api: Api, tracker: ToolCallTracker, key: str, *, fresh: bool) -> None:
        super().__init__(api, tracker)
        self._key = key
        self._fresh = fresh
