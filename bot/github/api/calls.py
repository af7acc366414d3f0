"""One identity at GitHub: githubkit's client for it, the one way in which everything is asked through it, and what its
failures become: errors of `bot.errors`, without a token, key or header in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import githubkit
from githubkit.exception import (
    GitHubException,
    GraphQLFailed,
    RateLimitExceeded,
    RequestError,
    RequestFailed,
    RequestTimeout,
)
from githubkit.graphql import GraphQLError

from bot.errors import DoppelError, Forbidden, GitHubError, Invalid, KeyRefused, NotFound, RateLimited, Unavailable
from bot.github.limits.answers import message_of

_LONGEST_DETAIL = 500
# What GitHub answers who signs as an App that is not there, wherever that is asked (octokit/auth-app.js, issue 165).
_NO_SUCH_APP = "Integration not found"
# What it answers now and then, with 422, who comments on an issue that it shows already: not all of its databases have
# it yet (https://github.com/trstringer/manual-approval/issues/208).
_NOT_THERE_YET = "Could not resolve to a node with the global id"


def translate(operation: str, problem: GitHubException) -> DoppelError:
    """The error to raise for `problem`; `operation` says in a few words what was asked.

    Texts of libraries are left out: some quote the header that they object to, which may hold a token.
    """
    cause: BaseException = problem
    while isinstance(cause, RequestError) and not isinstance(cause, RequestFailed):
        cause = cause.exc
    if isinstance(cause, DoppelError):
        return cause
    if isinstance(cause, RequestFailed):
        return _refusal(operation, cause)
    if isinstance(problem, RequestTimeout):
        return Unavailable(f"{operation}: GitHub did not answer in time")
    if isinstance(cause, ValueError):
        # A token that was asked for on the way came back cut off, say.
        return Unavailable(f"{operation}: the answer cannot be read ({type(cause).__name__})")
    return GitHubError(operation, 0, f"the request failed ({type(cause).__name__})")


def _refusal(operation: str, problem: RequestFailed) -> DoppelError:
    """What a status of 400 and above means."""
    response = problem.response
    status = response.status_code
    if isinstance(problem, RateLimitExceeded):
        return RateLimited(f"{operation}: GitHub's rate limit is reached", after=problem.retry_after.total_seconds())
    if status >= 500 and status != 501:
        return Unavailable(f"{operation}: GitHub answered {status}")
    detail = message_of(response.content)[:_LONGEST_DETAIL] or response.reason_phrase
    if status == 404 and detail == _NO_SUCH_APP:
        return KeyRefused(f"{operation}: GitHub knows no App of this id: {detail}")
    if status == 422 and _NOT_THERE_YET in detail:
        return Unavailable(f"{operation}: GitHub does not know everywhere yet what this is about")
    if problem.request.url.path.endswith("/access_tokens"):
        if status == 401:
            return KeyRefused(f"{operation}: GitHub refuses the App's private key: {detail}")
        # Without a token nothing of an installation can be read: it is the access that is missing, not the thing.
        return Forbidden(operation, status, f"no access as this installation: {detail}")
    if status in (401, 403, 451):
        needed = response.headers.get("x-accepted-github-permissions", "")
        return Forbidden(operation, status, f"{detail} (needs {needed[:200]})" if needed else detail)
    kinds = {404: NotFound, 410: NotFound, 422: Invalid}
    return kinds.get(status, GitHubError)(operation, status, detail)


DAY = 86_400.0


class SwitchedOff:
    """Features by place, for one process. Thread safe: what changes is one assignment.

    Each of several workers learns for itself, for one request a day: to share it would cost more than that (T6).
    `clock` counts seconds and never goes back.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}

    def __contains__(self, feature: str) -> bool:
        return self._clock() < self._until.get(feature, float("-inf"))

    def add(self, feature: str) -> None:
        """Leave it alone for a day."""
        now = self._clock()
        self._until = {name: until for name, until in self._until.items() if until > now} | {feature: now + DAY}


P = ParamSpec("P")
T = TypeVar("T")
# What GraphQL says of a failure of GitHub's own, before an id of the request; and what it calls it where a query takes
# more of GitHub's resources than one may (https://github.blog/changelog/2025-09-01-graphql-api-resource-limits).
_FAILED, _TOO_MUCH = "Something went wrong while executing your query", "RESOURCE_LIMITS_EXCEEDED"
PAGE = 100
"""The most that GitHub puts on a page."""


class Api:
    """Calls, with GitHub's refusals turned into our errors. `forget_tokens` drops the tokens that are no good.

    `installed`: these are tokens of an installation, and a new one is given only to who has access. `switched_off` is
    what this process has learned not to ask for.
    """

    def __init__(
        self,
        github: githubkit.GitHub[Any],
        switched_off: SwitchedOff,
        forget_tokens: Callable[[], None] | None = None,
        *,
        installed: bool = False,
    ) -> None:
        # githubkit's namespaces hold the client weakly, so that somebody must hold it.
        self.github = github
        self.rest = github.rest("2026-03-10")
        self.switched_off = switched_off
        self._forget_tokens = forget_tokens
        self._installed = installed

    def send(self, operation: str, request: Callable[[], T]) -> T:
        """Do `request`. `operation` says in a few words what it is, for the errors of `bot.errors` that it may raise.

        A 401 means that a token was revoked or outlived a wrong clock: the next one is tried once. A second one is
        Unavailable where that is an installation's, and KeyRefused where it is the App's own.
        """
        for attempt in (1, 2):
            try:
                return request()
            except GitHubException as problem:
                error = translate(operation, problem)
            stale = isinstance(error, KeyRefused) or (isinstance(error, Forbidden) and error.unknown)
            if attempt == 2 or not (stale and self._forget_tokens):
                break
            self.forget_tokens()
        if attempt == 2 and isinstance(error, Forbidden) and error.unknown:
            # No access has ended, so nothing may be dropped for it.
            if self._installed:
                # Not all of GitHub knows a token in the first seconds (its own library octokit/auth-app.js tries again
                # for five).
                raise Unavailable(f"{operation}: GitHub does not know the new token yet")
            raise KeyRefused(f"{operation}: GitHub refuses what the App's private key signed: {error.detail}")
        raise error

    def forget_tokens(self) -> None:
        """Ask for a new token next time: the present one is no good, or holds less than a new one would."""
        if self._forget_tokens:
            self._forget_tokens()

    def call(self, operation: str, request: Callable[[], githubkit.Response[Any, T]]) -> T:
        """Like `send`, for the JSON of the answer."""
        return self.read(operation, self.send(operation, request))

    def read(self, operation: str, response: githubkit.Response[Any, T]) -> T:
        """The JSON of an answer. One that was cut off on its way is as good as none: that is Unavailable."""
        try:
            return response.json()
        except ValueError:
            raise Unavailable(f"{operation}: the answer is not JSON") from None

    def graphql(
        self, operation: str, query: str, variables: dict[str, Any]
    ) -> tuple[Mapping[str, Any], Sequence[GraphQLError]]:
        """Ask GraphQL, which can answer in part: the data there are, and what is wrong with the rest.

        Where nothing came because GitHub itself failed, which it tells with status 200, that is Unavailable: to whoever
        reads the data alone it would say that there is nothing.
        """

        def request() -> tuple[Mapping[str, Any], Sequence[GraphQLError]]:
            try:
                return self.github.graphql.request(query, variables), ()
            except GraphQLFailed as failed:
                data, errors = failed.response.data or {}, failed.response.errors or ()
                if not any(data.values()) and any(map(is_failure, errors)):
                    raise Unavailable(f"{operation}: GitHub failed over the query") from None
                return data, errors

        try:
            return self.send(operation, request)
        except ValueError:
            raise Unavailable(f"{operation}: the answer is not GraphQL") from None

    def pages(
        self, operation: str, request: Callable[..., githubkit.Response[Any, Any]], most: int, within: str = ""
    ) -> Iterator[Any]:
        """The items of all pages of a list, up to `most` items. `request` takes `per_page` and the number of a `page`.

        Some lists stand `within` an object, under this name.
        """
        page = 0
        while page * PAGE < most:
            page += 1
            response = self.send(operation, partial(request, per_page=PAGE, page=page))
            items = self.read(operation, response)
            items = items[within] if within else items
            yield from items[: most - (page - 1) * PAGE]
            if _is_last(response, items):
                return


def _is_last(response: githubkit.Response[Any, Any], items: Sequence[object]) -> bool:
    """Whether no page follows the one with these items.

    One that is not full need not be the last: GitHub takes off it what is not to be seen, such as what an account has
    written that it took for a spammer's. The `Link` header knows.
    """
    return len(items) < PAGE and "next" not in response.raw_response.links


def is_failure(error: GraphQLError) -> bool:
    """Whether GitHub itself failed, or gave up: what is null for it may be there."""
    return error.message.startswith(_FAILED) or error.type == _TOO_MUCH


class HasApi(Protocol):
    """A client that asks through one."""

    _api: Api


def operation(ask: Callable[Concatenate[Api, P], T]) -> Callable[Concatenate[HasApi, P], T]:
    """`ask` as a method of a client; what it does is said where it is written."""

    @wraps(ask)
    def asked(client: HasApi, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return ask(client._api, *args, **kwargs)

    return asked
