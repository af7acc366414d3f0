"""What the bot reads of a repository over REST."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import quote

from githubkit.utils import UNSET

from bot.errors import Invalid, InvalidArgument, NotFound
from bot.github.api import convert
from bot.github.api.calls import PAGE, Api, operation
from bot.github.repository import labels
from bot.model import Comment, Issue, Permission, RepoRef, Repository

LARGEST_FILE = 1024 * 1024
"""Bytes of the largest file that is read; GitHub's contents API sends nothing larger within JSON."""

# Managed users have an underscore, and some old accounts a hyphen at the end; nobody has anything else.
_LOGIN = re.compile(r"[A-Za-z0-9_-]{1,100}")
_MOST_COMMENTS, _MOST_ISSUES_OF_ONE, _MOST_LABELS = 5_000, 1_000, 2_000


class Reads:
    """Reading operations. All raise Forbidden, RateLimited and Unavailable; NotFound if their docstring says so."""

    label_events = operation(labels.label_events)
    suggestions = operation(labels.suggestions)

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
        """One comment. Raises NotFound if it was deleted."""
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
