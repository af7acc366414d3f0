"""The table of qualifiers and their tests. GitHub's help page is "Searching issues and pull requests"."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from bot.simulator.search.document import Document, RepositoryFacts
from bot.simulator.search.errors import invalid, unsearchable_users
from bot.simulator.search.ranges import numbers, times
from bot.simulator.search.syntax import Qualifier

Predicate = Callable[[Document], bool]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """All that a qualifier may need besides the issue: the viewer (for `@me`), the existing users, the repositories."""

    viewer: str
    user_exists: Callable[[str], bool]
    repository: Callable[[str], RepositoryFacts]

    def login(self, value: str) -> str:
        """The login for a value, in lower case; `app/NAME` becomes the login of the App's bot."""
        login = value.lower()
        if login == "@me":
            return self.viewer.lower()
        bot = login.removeprefix("app/").removesuffix("[bot]") + "[bot]"
        return bot if login.startswith("app/") else login


# Makes the test for one value of a qualifier.
Build = Callable[[str, Surroundings], Predicate]


def _never(document: Document) -> bool:
    return False


def _is(value: str, around: Surroundings) -> Predicate:
    kinds: dict[str, Predicate] = {
        "issue": lambda document: not document.is_pull_request,
        "pr": lambda document: document.is_pull_request,
        "open": lambda document: document.state == "open",
        "closed": lambda document: document.state == "closed",
        "locked": lambda document: document.locked,
        "unlocked": lambda document: not document.locked,
        "merged": lambda document: document.merged_at is not None,
        "unmerged": lambda document: document.is_pull_request and document.merged_at is None,
        "draft": lambda document: document.draft,
        "public": lambda document: not around.repository(document.repo).private,
        "private": lambda document: around.repository(document.repo).private,
    }
    aliases = {"issues": "issue", "pull-request": "pr"}
    word = value.lower()
    return kinds.get(aliases.get(word, word), _never)


def _type(value: str, around: Surroundings) -> Predicate:
    word = value.lower()
    if word in ("issue", "pr", "pull-request"):
        return _is(word, around)
    return lambda document: document.issue_type.lower() == word


def _state(value: str, around: Surroundings) -> Predicate:
    word = value.lower()
    return lambda document: document.state == word


def _reason(value: str, around: Surroundings) -> Predicate:
    word = value.lower().replace(" ", "_").replace("-", "_")
    return lambda document: document.state == "closed" and document.state_reason == word


def _label(value: str, around: Surroundings) -> Predicate:
    name = value.lower()
    return lambda document: any(label.lower() == name for label in document.labels)


def _milestone(value: str, around: Surroundings) -> Predicate:
    title = value.lower()
    if title == "*":
        return lambda document: bool(document.milestone)
    return lambda document: document.milestone.lower() == title


def _no(value: str, around: Surroundings) -> Predicate:
    absent: dict[str, Predicate] = {
        "label": lambda document: not document.labels,
        "milestone": lambda document: not document.milestone,
        "assignee": lambda document: not document.assignees,
    }
    return absent.get(value.lower(), _never)


def _author(value: str, around: Surroundings) -> Predicate:
    login = around.login(value)
    return lambda document: document.author.lower() == login


def _assignee(value: str, around: Surroundings) -> Predicate:
    login = around.login(value)
    if login == "*":
        return lambda document: bool(document.assignees)
    return lambda document: any(one.lower() == login for one in document.assignees)


def _commenter(value: str, around: Surroundings) -> Predicate:
    login = around.login(value)
    return lambda document: any(one.lower() == login for one in document.commenters)


def _mentions(value: str, around: Surroundings) -> Predicate:
    mention = re.compile(rf"(?<![\w/]){re.escape('@' + around.login(value))}(?![\w-])", re.IGNORECASE)
    return lambda document: any(mention.search(text) for text in (document.body, *document.comments))


def _involves(value: str, around: Surroundings) -> Predicate:
    parts = [build(value, around) for build in (_author, _assignee, _mentions, _commenter)]
    return lambda document: any(part(document) for part in parts)


def _draft(value: str, around: Surroundings) -> Predicate:
    wanted = value.lower() == "true"
    return lambda document: document.is_pull_request and document.draft == wanted


def _archived(value: str, around: Surroundings) -> Predicate:
    wanted = value.lower() == "true"
    return lambda document: around.repository(document.repo).archived == wanted


def _repo(value: str, around: Surroundings) -> Predicate:
    name = value.lower()
    return lambda document: document.repo.lower() == name


def _owner(value: str, around: Surroundings) -> Predicate:
    owner = around.login(value) + "/"
    return lambda document: document.repo.lower().startswith(owner)


def _count(count_of: Callable[[Document], int]) -> Build:
    def build(value: str, around: Surroundings) -> Predicate:
        allowed = numbers(value)
        return lambda document: count_of(document) in allowed

    return build


def _time(time_of: Callable[[Document], datetime | None]) -> Build:
    def build(value: str, around: Surroundings) -> Predicate:
        allowed = times(value)
        return lambda document: (time := time_of(document)) is not None and time.timestamp() in allowed

    return build


_TABLE: MappingProxyType[str, Build] = MappingProxyType(
    {
        "is": _is,
        "type": _type,
        "state": _state,
        "reason": _reason,
        "label": _label,
        "milestone": _milestone,
        "no": _no,
        "author": _author,
        "assignee": _assignee,
        "commenter": _commenter,
        "mentions": _mentions,
        "involves": _involves,
        "draft": _draft,
        "archived": _archived,
        "repo": _repo,
        "user": _owner,
        "org": _owner,
        "comments": _count(lambda document: document.comment_count),
        "reactions": _count(lambda document: document.reactions),
        "interactions": _count(lambda document: document.reactions + document.comment_count),
        "created": _time(lambda document: document.created_at),
        "updated": _time(lambda document: document.updated_at),
        "closed": _time(lambda document: document.closed_at),
        "merged": _time(lambda document: document.merged_at),
    }
)
_PEOPLE = frozenset({"author", "assignee", "commenter", "mentions", "involves"})
# The simulator refuses these GitHub qualifiers, because an answer that ignored them would be wrong.
_NOT_SIMULATED = frozenset(
    {
        *("team", "project", "status", "head", "base", "language", "linked", "review", "reviewed-by"),
        *("review-requested", "user-review-requested", "team-review-requested"),
    }
)

NAMES = frozenset(_TABLE) | _NOT_SIMULATED | {"in", "sort"}


def predicate(qualifier: Qualifier, around: Surroundings) -> Predicate:
    """The qualifier's test. Raises QueryError if it is not simulated, has a wrong date, or names only unknown users."""
    build = _TABLE.get(qualifier.name)
    if build is None:
        raise invalid(f"The qualifier {qualifier.name}: is not simulated here.")
    if qualifier.name in _PEOPLE:
        people = [around.login(value) for value in qualifier.values if value != "*"]
        if people and not any(map(around.user_exists, people)):
            raise unsearchable_users()
    tests = [build(value, around) for value in qualifier.values]
    positive = tests[0] if len(tests) == 1 else lambda document: any(test(document) for test in tests)
    return (lambda document: not positive(document)) if qualifier.negated else positive
