"""What the bot changes in a repository. Nothing here is ever answered from memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, TypeVar
from urllib.parse import quote

import githubkit

from bot.errors import NotFound
from bot.github.api import convert
from bot.github.api.calls import PAGE
from bot.github.repository.labels import Confidence
from bot.github.repository.reads import Reads
from bot.model import Actor, Comment, Issue, RepoRef

T = TypeVar("T")
Reaction = Literal["+1", "-1", "eyes", "confused", "rocket"]


class Writes(Reads):
    """Writing operations. All raise NotFound, Forbidden, Invalid, RateLimited and Unavailable.

    All but `create_comment` and `create_issue` can be repeated without harm and are, within limits. After Unavailable
    from these nobody knows whether the thing is there: look for its marker before trying again.
    """

    def create_comment(self, repo: RepoRef, number: int, body: str) -> Comment:
        """Post a comment on an issue."""
        data = self._ask(
            f"comment on {repo}#{number}",
            repo,
            lambda at: self._api.rest.issues.create_comment(at.owner, at.name, number, body=body),
        )
        return convert.comment(data)

    def update_comment(self, repo: RepoRef, comment_id: int, body: str) -> Comment:
        """Give a comment of the bot's own a new text."""
        data = self._ask(
            f"edit comment {comment_id} in {repo}",
            repo,
            lambda at: self._api.rest.issues.update_comment(at.owner, at.name, comment_id, body=body),
        )
        return convert.comment(data)

    def delete_comment(self, repo: RepoRef, comment_id: int) -> None:
        """Delete a comment; that it is gone already is as good."""
        with suppress(NotFound):
            self._write(
                f"delete comment {comment_id} in {repo}",
                repo,
                lambda at: self._api.rest.issues.delete_comment(at.owner, at.name, comment_id),
            )

    def react(self, repo: RepoRef, comment_id: int, content: Reaction) -> Actor:
        """React to a comment; a reaction that is there already stays. Returns who reacted: the App itself."""
        data = self._ask(
            f"react to comment {comment_id} in {repo}",
            repo,
            lambda at: self._api.rest.reactions.create_for_issue_comment(
                at.owner, at.name, comment_id, content=content
            ),
        )
        return convert.actor(data.get("user"))

    def unreact(self, repo: RepoRef, comment_id: int, content: Reaction, who: Actor) -> None:
        """Take `who`'s reaction off a comment, and nobody else's; that there is none is as good."""
        operation = f"take a reaction off comment {comment_id} in {repo}"
        given = self._ask(
            operation,
            repo,
            lambda at: self._api.rest.reactions.list_for_issue_comment(
                at.owner, at.name, comment_id, content=content, per_page=PAGE
            ),
        )
        key = next((one["id"] for one in given if convert.actor(one.get("user")) == who), None)
        if key is None:
            return
        # It may be gone by now.
        with suppress(NotFound):
            self._write(
                operation,
                repo,
                lambda at: self._api.rest.reactions.delete_for_issue_comment(at.owner, at.name, comment_id, key),
            )

    def close_as_duplicate(self, repo: RepoRef, number: int, original_id: int) -> Issue:
        """Close an issue as GitHub's own kind of duplicate. `original_id` is the database id of the original."""
        change = {"state": "closed", "state_reason": "duplicate", "duplicate_issue_id": original_id}
        return self._update(f"close {repo}#{number} as a duplicate", repo, number, change)

    def close(self, repo: RepoRef, number: int, reason: Literal["completed", "not_planned"]) -> Issue:
        """Close an issue, or give a closed one this reason."""
        return self._update(f"close {repo}#{number}", repo, number, {"state": "closed", "state_reason": reason})

    def reopen(self, repo: RepoRef, number: int) -> Issue:
        """Open a closed issue again."""
        return self._update(f"reopen {repo}#{number}", repo, number, {"state": "open", "state_reason": "reopened"})

    def create_issue(self, repo: RepoRef, title: str, body: str) -> Issue:
        """Open an issue."""
        data = self._ask(
            f"open an issue in {repo}",
            repo,
            lambda at: self._api.rest.issues.create(at.owner, at.name, title=title, body=body),
        )
        return convert.issue(data)

    def edit_issue(self, repo: RepoRef, number: int, body: str) -> Issue:
        """Give an issue of the bot's own a new text."""
        return self._update(f"edit {repo}#{number}", repo, number, {"body": body})

    def add_labels(self, repo: RepoRef, number: int, names: Sequence[str]) -> None:
        """Add labels to those that an issue has. (Setting them with the issue would replace the others.)"""
        if names:
            self._write(
                f"label {repo}#{number}",
                repo,
                lambda at: self._api.rest.issues.add_labels(at.owner, at.name, number, labels=list(names)),
            )

    def suggest_label(self, repo: RepoRef, number: int, name: str, rationale: str, confidence: Confidence) -> None:
        """Propose a label to the maintainers; where the repository lacks that, it would be added outright."""
        proposed: Any = {"name": name, "rationale": rationale, "confidence": confidence, "suggest": True}
        self._write(
            f"suggest a label on {repo}#{number}",
            repo,
            lambda at: self._api.rest.issues.add_labels(at.owner, at.name, number, labels=[proposed]),
        )

    def suggest_closing(
        self, repo: RepoRef, number: int, original_id: int, rationale: str, confidence: Confidence
    ) -> None:
        """Propose to the maintainers to close an issue as a duplicate. GitHub's client knows no such state yet.

        Where the repository lacks that GitHub answers well and does nothing, so it is to be listed afterwards.
        """
        state = {"value": "closed", "rationale": rationale, "confidence": confidence, "suggest": True}
        change = {"state": state, "state_reason": "duplicate", "duplicate_issue_id": original_id}
        self._write(
            f"suggest closing {repo}#{number}",
            repo,
            lambda at: self._api.github.request("PATCH", f"/repos/{at.owner}/{at.name}/issues/{number}", json=change),
        )

    def remove_label(self, repo: RepoRef, number: int, name: str) -> None:
        """Take a label off an issue; that it is not on it is as good."""
        with suppress(NotFound):
            self._write(
                f"unlabel {repo}#{number}",
                repo,
                lambda at: self._api.rest.issues.remove_label(at.owner, at.name, number, _segment(name)),
            )

    def _update(self, operation: str, repo: RepoRef, number: int, change: Mapping[str, Any]) -> Issue:
        """Change an issue; what `change` does not name stays."""
        data = self._ask(operation, repo, lambda at: self._api.rest.issues.update(at.owner, at.name, number, **change))
        return convert.issue(data)

    def _ask(self, operation: str, repo: RepoRef, request: Callable[[RepoRef], githubkit.Response[Any, T]]) -> T:
        """Write, and return the JSON of the answer."""
        return self._renamed(repo, lambda at: self._api.call(operation, lambda: request(at)))

    def _write(self, operation: str, repo: RepoRef, request: Callable[[RepoRef], githubkit.Response[Any, Any]]) -> None:
        """Write where the answer says nothing of interest."""
        self._renamed(repo, lambda at: self._api.send(operation, lambda: request(at)))

    def _renamed(self, repo: RepoRef, write: Callable[[RepoRef], T]) -> T:
        """Write; to the new name of a repository that was renamed, but not to where an issue was transferred."""
        try:
            return write(repo)
        except NotFound as problem:
            if problem.status in (404, 410):
                raise
            moved = problem
        present = self.repository(repo).ref
        if present.key == repo.key:
            raise moved
        return write(present)


def _segment(name: str) -> str:
    """A name as one segment of a path; dots alone would climb to another address."""
    return quote(name, safe="") if name.strip(".") else name.replace(".", "%2E")
