"""Turns a webhook's JSON into an event: `parse(name, payload) -> Event | Ignored`.

An event that needs no work is ignored here and never reaches the queue. GitHub's manual describes the payloads
("Webhook events and payloads").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from bot.deliveries.events import (
    CommentEvent,
    Event,
    Ignored,
    InstallationEvent,
    IssueEvent,
    PushEvent,
    RepositoryEvent,
)
from bot.domain.entities import BODY_MAX, NOBODY, Actor, RepoRef, Repository, same_login
from bot.domain.errors import DoppelError, InvalidArgument
from bot.text.titles import plain

ISSUE_ACTIONS = frozenset(
    {"opened", "edited", "reopened", "deleted", "transferred", "closed", "labeled", "unlabeled", "unlocked"}
)
COMMENT_ACTIONS = frozenset({"created", "edited", "deleted"})
INSTALLATION_ACTIONS = frozenset({"created", "deleted", "suspend", "unsuspend", "new_permissions_accepted"})
REPOSITORY_ACTIONS = frozenset(
    {"renamed", "deleted", "privatized", "publicized", "archived", "unarchived", "transferred"}
)
SETTINGS_FILE = ".github/doppel.yml"
TEMPLATES = ".github/ISSUE_TEMPLATE"
# A single issue template, GitHub's older form: its possible folders ("" is the root) and names (in lower case).
TEMPLATE_FOLDERS = (".github", "", "docs")
TEMPLATE_NAMES = frozenset({"issue_template", "issue_template.md", "issue_template.txt"})

# The beginning of every command, even a misspelt one: `/dup`, or a mention and `dup`, as in `@doppel[bot], dup`. The
# command parser examines the rest.
_COMMAND = re.compile(r"/dup|@[\w-]+(?:\[bot\])?[,:]? +dup", re.IGNORECASE)


class MalformedPayload(DoppelError):
    """The JSON differs from GitHub's manual; the message names the field."""


def parse(name: str, payload: Any) -> Event | Ignored:
    """Read one delivery. `name` is `X-GitHub-Event`, `payload` the decoded JSON.

    Raises MalformedPayload if a required field is missing or has the wrong type, or if the payload has a field of
    another event (`_FOREIGN_FIELDS`).
    """
    reader = _READERS.get(name)
    if reader is None:
        return Ignored(f"no handler for event {name[:100]!r}")
    if not isinstance(payload, Mapping):
        raise MalformedPayload("the payload must be a JSON object")
    for key in _FOREIGN_FIELDS.get(name, ()):
        if payload.get(key) is not None:
            raise MalformedPayload(f"payload.{key} belongs to another event than {name}")
    return reader(name, _Fields(payload, "payload"))


class _Fields:
    """Typed access to a JSON object; errors name the path."""

    def __init__(self, values: Mapping[str, Any], path: str) -> None:
        self._values = values
        self._path = path

    def _typed(self, key: str, kind: type, default: Any = None, required: bool = True) -> Any:
        value = self._values.get(key)
        if value is None and not required:
            return default
        # In Python a bool is an int.
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise MalformedPayload(f"{self._path}.{key} must be {_TYPES[kind]}")
        return value

    def text(self, key: str, default: str | None = None) -> str:
        return str(self._typed(key, str, default, required=default is None))

    def number(self, key: str) -> int:
        value = int(self._typed(key, int))
        # GitHub's ids are 64-bit integers, like our columns.
        if not 0 <= value < 2**63:
            raise MalformedPayload(f"{self._path}.{key} is out of range")
        return value

    def flag(self, key: str) -> bool:
        return bool(self._typed(key, bool, False, required=False))

    def has(self, key: str) -> bool:
        return self._values.get(key) is not None

    def child(self, key: str) -> _Fields:
        return _Fields(self._typed(key, dict), f"{self._path}.{key}")

    def children(self, key: str) -> list[_Fields]:
        values = self._typed(key, list, [], required=False)
        for value in values:
            if not isinstance(value, dict):
                raise MalformedPayload(f"{self._path}.{key} must hold objects")
        return [_Fields(value, f"{self._path}.{key}[]") for value in values]

    def texts(self, key: str) -> list[str]:
        return [value for value in self._typed(key, list, [], required=False) if isinstance(value, str)]


_TYPES = {str: "a string", int: "an integer", bool: "true or false", dict: "an object", list: "a list"}


def _actor(parent: _Fields, key: str) -> Actor:
    """A user. GitHub sends null for an account that no longer exists, and shows the account as `ghost`."""
    if not parent.has(key):
        return Actor(NOBODY)
    fields = parent.child(key)
    login = fields.text("login")
    return Actor(login, is_bot=fields.text("type", "User") == "Bot" or login.endswith("[bot]"))


def _repository(fields: _Fields) -> Repository:
    id_, name = fields.number("id"), fields.text("full_name")
    try:
        ref = RepoRef.parse(name)
    except InvalidArgument as problem:
        raise MalformedPayload(f"full_name: {problem}") from problem
    return Repository(id_, ref, fields.flag("private"), fields.flag("archived"))


def _installation(fields: _Fields) -> int | None:
    return fields.child("installation").number("id") if fields.has("installation") else None


def _issues(name: str, fields: _Fields) -> Event | Ignored:
    action = fields.text("action")
    if action not in ISSUE_ACTIONS:
        return Ignored(f"issues.{action[:100]} needs no work")
    issue = fields.child("issue")
    if issue.has("pull_request"):
        return Ignored("a pull request, not an issue")
    changes = fields.child("changes") if fields.has("changes") else None
    text_changed = changes is not None and (changes.has("title") or changes.has("body"))
    if action == "edited" and not text_changed:
        return Ignored("neither title nor body changed")
    author = _actor(issue, "user")
    # The sender of a transferred issue only moved the issue here; the author reported it.
    moved = changes is not None and changes.has("old_issue")
    return IssueEvent(
        action=action,
        installation=_installation(fields),
        repository=_repository(fields.child("repository")),
        number=issue.number("number"),
        sender=author if moved else _actor(fields, "sender"),
        author=author,
        label=fields.child("label").text("name") if fields.has("label") else "",
        closed_at=issue.text("closed_at", "")[:40],
    )


def _issue_comment(name: str, fields: _Fields) -> Event | Ignored:
    action = fields.text("action")
    if action not in COMMENT_ACTIONS:
        return Ignored(f"issue_comment.{action[:100]} needs no work")
    issue, comment = fields.child("issue"), fields.child("comment")
    if issue.has("pull_request"):
        return Ignored("a comment on a pull request")
    sender, author = _actor(fields, "sender"), _actor(comment, "user")
    # Ignore commands in a bot's comment, even after a person's edit: the commands would seem the bot's own.
    # But heed a person's deletion of a bot's comment: if the comment was ours, never post it again.
    if sender.is_bot or (author.is_bot and action != "deleted"):
        return Ignored("what bots write is not a command")
    body, previous = comment.text("body", "")[:BODY_MAX], ""
    if action == "edited":
        if not fields.has("changes") or not fields.child("changes").has("body"):
            # Without the previous text, every command in the comment would count as new, given by the sender.
            return Ignored("the comment's text did not change")
        previous = fields.child("changes").child("body").text("from", "")[:BODY_MAX]
    if action == "deleted" and not author.is_bot:
        return Ignored("the deleted comment was a person's")
    if action != "deleted" and not any(_COMMAND.search(plain(text)) for text in (body, previous)):
        return Ignored("a comment without a command")
    return CommentEvent(
        action=action,
        installation=_installation(fields),
        repository=_repository(fields.child("repository")),
        number=issue.number("number"),
        sender=sender,
        comment_id=comment.number("id"),
        body=body,
        previous=previous,
        updated_at=comment.text("updated_at", "")[:40],
        locked=issue.flag("locked"),
        app=comment.child("performed_via_github_app").number("id") if comment.has("performed_via_github_app") else 0,
        by_another=action == "edited" and not same_login(sender.login, author.login),
        author=author.login,
    )


def _installation_event(name: str, fields: _Fields) -> Event | Ignored:
    action = fields.text("action")
    if action not in ({"added", "removed"} if name == "installation_repositories" else INSTALLATION_ACTIONS):
        return Ignored(f"{name}.{action[:100]} needs no work")
    return InstallationEvent(name, action, fields.child("installation").number("id"))


def _repository_event(name: str, fields: _Fields) -> Event | Ignored:
    action = fields.text("action")
    if action not in REPOSITORY_ACTIONS:
        return Ignored(f"repository.{action[:100]} needs no work")
    return RepositoryEvent(action, _installation(fields), _repository(fields.child("repository")))


def _push(name: str, fields: _Fields) -> Event | Ignored:
    repository = fields.child("repository")
    if fields.text("ref") != f"refs/heads/{repository.text('default_branch', '')}":
        return Ignored("a push to another branch than the default one")
    lists = [commit.texts(key) for commit in fields.children("commits") for key in ("added", "modified", "removed")]
    if not any(_is_read(path) for paths in lists for path in paths):
        return Ignored("a push that touches neither settings nor issue templates")
    return PushEvent(_installation(fields), _repository(repository))


def _is_read(path: str) -> bool:
    """Whether the bot reads the file at this path: the settings file or an issue template."""
    folder, _, name = path.rpartition("/")
    is_template = folder == TEMPLATES or (folder in TEMPLATE_FOLDERS and name.lower() in TEMPLATE_NAMES)
    return is_template or path == SETTINGS_FILE


_READERS: dict[str, Callable[[str, _Fields], Event | Ignored]] = {
    "issues": _issues,
    "issue_comment": _issue_comment,
    "installation": _installation_event,
    "installation_repositories": _installation_event,
    "repository": _repository_event,
    "push": _push,
}

# Fields that only other events' payloads have. GitHub signs the payload but not the event's name, so an eavesdropper
# could resend the deletion of a comment as the deletion of its issue.
_FOREIGN_FIELDS: dict[str, tuple[str, ...]] = {
    "issues": ("comment",),
    "installation": ("issue", "comment"),
    "installation_repositories": ("issue", "comment"),
    "repository": ("issue", "comment"),
    "push": ("issue", "comment"),
}
