"""What the bot changes in a repository. Nothing here is ever answered from memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Literal
from urllib.parse import quote

from githubkit import Response

from bot.errors import NotFound
from bot.github.api import convert
from bot.github.api.calls import PAGE
from bot.github.repository.labels import Confidence
from bot.github.repository.reads import Reads
from bot.model import Actor, Comment, Issue, RepoRef

Reaction = Literal["+1", "-1", "eyes", "confused", "rocket"]


class Writes(Reads):
    """Writing operations. All raise NotFound, Forbidden, Invalid, RateLimited and Unavailable.

    The client repeats all but `create_comment` and `create_issue`, within limits. If one of these two raises
    Unavailable, nobody knows whether the thing is there: look for its marker before trying again.
    """

    def create_comment(self, repo: RepoRef, number: int, body: str) -> Comment:
        """Post a comment on an issue."""
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
        """Open a closed issue again."""
        return self._update(f"reopen {repo}#{number}", repo, number, state="open", state_reason="reopened")

    def create_issue(self, repo: RepoRef, title: str, body: str) -> Issue:
        """Open an issue."""
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
        """Propose to the maintainers to close an issue as a duplicate. GitHub's client knows no such state yet.

        Where the repository lacks that GitHub answers well and does nothing, so it is to be listed afterwards.
        """
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
