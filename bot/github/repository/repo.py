"""The client of one installation, and its variant for the work on one issue, which remembers what it read."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from bot.calls import ToolCallTracker, equal
from bot.github.api.calls import Api, operation
from bot.github.repository.changes import changed_issues, count_issues, missing_issues
from bot.github.repository.history import history
from bot.github.repository.many import closers, duplicate_of, originals, reactions, workflow_states
from bot.github.repository.search import search, search_discussions, similar_issues
from bot.github.repository.threads import threads
from bot.github.repository.votes import fold, unfold, votes
from bot.github.repository.writes import Writes

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
        """This client for the work on one issue (`OWNER/REPO#N`), which remembers its reads for some minutes (T5).

        With `fresh` it reads all anew, and remembers that.
        """
        return ThreadClient(self._api, self._tracker, key, fresh=fresh)

    def forget_thread(self, key: str) -> None:
        """Forget what was read for a thread, because it has changed since."""
        self._tracker.clear_session(key)


def _remembered(
    ask: Callable[Concatenate[RepoClient, P], R], unless: Callable[[R], Any] | None = None
) -> Callable[Concatenate[ThreadClient, P], R]:
    """A reading operation that answers from memory. It does not keep an answer about which `unless` is true.

    A remembered answer's `cached_at`, if it has that, says when it was fetched.
    """
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
    """A RepoClient that answers repeated reads from memory, unless they failed or came incomplete.

    It always reads anew what the bot is about to act upon: issues, comments, permissions, the repository.
    """

    search = _remembered(RepoClient.search, unless=lambda page: page.incomplete)
    similar_issues = _remembered(RepoClient.similar_issues, unless=lambda found: not found.enabled)
    discussions = _remembered(RepoClient.discussions, unless=lambda found: found.reason)
    workflow_states = _remembered(RepoClient.workflow_states, unless=lambda answer: answer.reason)
    recent_issues = _remembered(RepoClient.recent_issues)
    labels = _remembered(RepoClient.labels)
    file = _remembered(RepoClient.file)
    directory = _remembered(RepoClient.directory)

    def __init__(self, api: Api, tracker: ToolCallTracker, key: str, *, fresh: bool) -> None:
        super().__init__(api, tracker)
        self._key = key
        self._fresh = fresh
