"""What the bot reads of a repository."""

from __future__ import annotations

import base64
import re
from contextlib import suppress
from datetime import datetime
from functools import partial
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
_MOST_COMMENTS = 5_000
# Of one person.
_MOST_ISSUES = 1_000
_MOST_LABELS = 2_000


class Reads:
    """Reading operations. All raise Forbidden, RateLimited and Unavailable; NotFound where it says so."""

    label_events = operation(labels.label_events)
    suggestions = operation(labels.suggestions)

    def __init__(self, api: Api) -> None:
        self._api = api

    def issue(self, repo: RepoRef, number: int) -> Issue:
        """One issue or pull request. Raises NotFound where it is deleted, or has been transferred elsewhere.

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
        """Raises Forbidden where GitHub does not take the token; costs nothing."""
        # An Enterprise Server without limits has no such page, but looks at the token first.
        with suppress(NotFound):
            self._api.call("read the limits", lambda: self._api.rest.rate_limit.get())

    def recent_issues(self, repo: RepoRef, limit: int) -> list[Issue]:
        """The issues opened last, newest first, open and closed, without pull requests: `limit` at most."""
        found: list[Issue] = []
        # The list mixes issues with pull requests, which are the greater part in some repositories.
        listed = self._api.pages(
            f"list the issues of {repo}",
            partial(
                self._api.rest.issues.list_for_repo,
                repo.owner,
                repo.name,
                state="all",
                sort="created",
                direction="desc",
            ),
            most=max(10 * PAGE, 5 * limit),
        )
        for data in listed:
            if len(found) >= limit:
                break
            if not data.get("pull_request"):
                found.append(convert.issue(data))
        return found

    def issues_of(self, repo: RepoRef, login: str) -> list[Issue]:
        """The issues that somebody opened, open and closed, without pull requests, the oldest first."""
        listed = self._api.pages(
            f"list the issues of {login} in {repo}",
            partial(
                self._api.rest.issues.list_for_repo,
                repo.owner,
                repo.name,
                state="all",
                creator=login,
                sort="created",
                direction="asc",
            ),
            most=_MOST_ISSUES,
        )
        return [convert.issue(data) for data in listed if not data.get("pull_request")]

    def comments(self, repo: RepoRef, number: int, since: datetime | None = None) -> list[Comment]:
        """All comments on an issue, oldest first (GitHub allows no issue more than 2,500), or those that were written
        or edited at `since` or later. Raises NotFound.
        """
        after = UNSET if since is None else since
        listed = self._api.pages(
            f"read the comments on {repo}#{number}",
            partial(self._api.rest.issues.list_comments, repo.owner, repo.name, number, since=after),
            most=_MOST_COMMENTS,
        )
        return [convert.comment(data) for data in listed]

    def comment(self, repo: RepoRef, comment_id: int) -> Comment:
        """One comment. Raises NotFound where it was deleted."""
        data = self._api.call(
            f"read comment {comment_id} in {repo}",
            lambda: self._api.rest.issues.get_comment(repo.owner, repo.name, comment_id),
        )
        return convert.comment(data)

    def permission(self, repo: RepoRef, login: str) -> Permission:
        """What somebody may do here (C5): nothing, for a bot or a name that nobody has."""
        if not _LOGIN.fullmatch(login):
            return Permission()
        try:
            data = self._api.call(
                f"read the permission of {login} in {repo}",
                lambda: self._api.rest.repos.get_collaborator_permission_level(repo.owner, repo.name, login),
            )
        except NotFound:
            return Permission()
        return convert.permission(data)

    def labels(self, repo: RepoRef) -> frozenset[str]:
        """The names of the repository's labels."""
        listed = self._api.pages(
            f"list the labels of {repo}",
            partial(self._api.rest.issues.list_labels_for_repo, repo.owner, repo.name),
            most=_MOST_LABELS,
        )
        return frozenset(data["name"] for data in listed)

    def repository(self, repo: RepoRef) -> Repository:
        """The repository, under its present name where it was renamed. Raises NotFound."""
        data = self._api.call(f"read {repo}", lambda: self._api.rest.repos.get(repo.owner, repo.name))
        return convert.repository(data)

    def file(self, repo: RepoRef, path: str) -> str | None:
        """The text of a file on the default branch; None where there is no file. Bytes that are no UTF-8 become `�`.

        Raises Invalid for a file of more than LARGEST_FILE bytes.
        """
        data = self._contents(repo, path)
        if not isinstance(data, dict) or data.get("type") != "file":
            return None
        if data["size"] > LARGEST_FILE or data.get("encoding") != "base64":
            raise Invalid(f"read {path} in {repo}", 413, f"the file has {data['size']} bytes, more than 1 MiB")
        return base64.b64decode(data["content"]).decode("utf-8", errors="replace")

    def directory(self, repo: RepoRef, path: str) -> list[str]:
        """The names in a folder of the default branch, those of folders with a slash behind; empty if there is none.

        The path of the root is "".
        """
        data = self._contents(repo, path, root=not path)
        ends = {"file": "", "dir": "/"}
        entries = data if isinstance(data, list) else []
        return [entry["name"] + ends[entry["type"]] for entry in entries if entry["type"] in ends]

    def _contents(self, repo: RepoRef, path: str, *, root: bool = False) -> object:
        if not root and any(part in ("", ".", "..") for part in path.split("/")):
            raise InvalidArgument("path", f"{path!r} is no path inside a repository")
        try:
            return self._api.call(
                f"read {path or 'the root'} in {repo}",
                lambda: self._api.rest.repos.get_content(repo.owner, repo.name, quote(path)),
            )
        except NotFound:
            return None
