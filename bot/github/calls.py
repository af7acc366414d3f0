"""`Api`, through which this package calls GitHub as one identity. Failures become errors of `bot.domain.errors`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

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

from bot.domain.errors import (
    DoppelError,
    Forbidden,
    GitHubError,
    Invalid,
    KeyRefused,
    NotFound,
    RateLimited,
    Unavailable,
)
from bot.github.limits import message_of

_LONGEST_DETAIL = 500
# GitHub's message for any request signed for an App that does not exist (octokit/auth-app.js, issue 165).
_NO_SUCH_APP = "Integration not found"
# GitHub refuses a comment on a new issue with 422 and this message, while some of GitHub's databases lack the issue
# (https://github.com/trstringer/manual-approval/issues/208).
_NOT_THERE_YET = "Could not resolve to a node with the global id"


def translate(operation: str, problem: GitHubException) -> DoppelError:
    """The error to raise for `problem`. `operation` describes the request in a few words.

    The error never quotes a library's message: such a message may quote a header with a token.
    """
    cause: BaseException = problem
    # githubkit wraps every error of its transport in a RequestError, even our own errors.
    while isinstance(cause, RequestError) and not isinstance(cause, RequestFailed):
        cause = cause.exc
    if isinstance(cause, DoppelError):
        return cause
    if isinstance(cause, RequestFailed):
        return _refusal(operation, cause)
    if isinstance(problem, RequestTimeout):
        return Unavailable(f"{operation}: GitHub did not answer in time")
    if isinstance(cause, ValueError):
        # For example, the connection broke in the middle of the JSON with githubkit's new token.
        return Unavailable(f"{operation}: the answer cannot be read ({type(cause).__name__})")
    return GitHubError(operation, 0, f"the request failed ({type(cause).__name__})")


def _refusal(operation: str, problem: RequestFailed) -> DoppelError:
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
        return Unavailable(f"{operation}: some of GitHub's databases do not have this resource yet")
    if problem.request.url.path.endswith("/access_tokens"):
        if status == 401:
            return KeyRefused(f"{operation}: GitHub refuses the App's private key: {detail}")
        # Raise Forbidden even for 404: the access is missing, not the resource.
        return Forbidden(operation, status, f"no access as this installation: {detail}")
    if status in (401, 403, 451):
        needed = response.headers.get("x-accepted-github-permissions", "")
        return Forbidden(operation, status, f"{detail} (needs {needed[:200]})" if needed else detail)
    kinds = {404: NotFound, 410: NotFound, 422: Invalid}
    return kinds.get(status, GitHubError)(operation, status, detail)


DAY = 86_400.0


class SwitchedOff:
    """The features that GitHub has refused. Each stays off for a day (F8a). A feature's name includes its repository.

    `clock` counts seconds and never goes back. Thread safe, but two additions at once may lose one.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}

    def __contains__(self, feature: str) -> bool:
        return self._clock() < self._until.get(feature, float("-inf"))

    def add(self, feature: str) -> None:
        now = self._clock()
        self._until = {name: until for name, until in self._until.items() if until > now} | {feature: now + DAY}


P = ParamSpec("P")
T = TypeVar("T")
# GraphQL's message for an internal error, and its error type for a query that takes too many resources.
_INTERNAL_ERROR, _TOO_EXPENSIVE = "Something went wrong while executing your query", "RESOURCE_LIMITS_EXCEEDED"
PAGE = 100
"""The most items that GitHub puts on a page."""


class Api:
    """Calls GitHub as the App, an installation (`installed`) or a token's owner. `forget_tokens` drops the tokens."""

    def __init__(
        self,
        github: githubkit.GitHub[Any],
        switched_off: SwitchedOff,
        forget_tokens: Callable[[], None] | None = None,
        *,
        installed: bool = False,
    ) -> None:
        # Keep a reference, because githubkit's namespaces hold the client only weakly.
        self.github = github
        self.rest = github.rest("2026-03-10")
        self.switched_off = switched_off
        self._forget_tokens = forget_tokens
        self._installed = installed

    def send(self, operation: str, request: Callable[[], T]) -> T:
        """Send `request`. Errors quote `operation`.

        After a 401 (the token was revoked, or expired earlier than the clock says) try once more with a new token, if
        the App can get one. A second 401 raises Unavailable for an installation's token, and KeyRefused for the App's.
        """
        for attempt in (1, 2):
            try:
                return request()
            except GitHubException as problem:
                error = translate(operation, problem)
            # `Forbidden.unknown`: GitHub answered 401.
            stale = isinstance(error, KeyRefused) or (isinstance(error, Forbidden) and error.unknown)
            if attempt == 2 or not (stale and self._forget_tokens):
                break
            self.forget_tokens()
        if attempt == 2 and isinstance(error, Forbidden) and error.unknown:
            # Do not raise Forbidden, which would tell the caller that access has ended.
            if self._installed:
                # It takes seconds until all of GitHub knows a new token (octokit/auth-app.js retries for five seconds).
                raise Unavailable(f"{operation}: GitHub does not know the new token yet")
            raise KeyRefused(f"{operation}: GitHub refuses what the App's private key signed: {error.detail}")
        raise error

    def forget_tokens(self) -> None:
        """Make the next request use a new token, after a refusal or when permissions have grown."""
        if self._forget_tokens:
            self._forget_tokens()

    def call(self, operation: str, request: Callable[[], githubkit.Response[Any, T]]) -> T:
        """Like `send`, but returns the answer's JSON."""
        return self.read(operation, self.send(operation, request))

    def read(self, operation: str, response: githubkit.Response[Any, T]) -> T:
        """The JSON of an answer. Raises Unavailable if the answer was cut off."""
        try:
            return response.json()
        except ValueError:
            raise Unavailable(f"{operation}: the answer is not JSON") from None

    def graphql(
        self, operation: str, query: str, variables: dict[str, Any]
    ) -> tuple[Mapping[str, Any], Sequence[GraphQLError]]:
        """Ask GraphQL. Returns the data, which may be partial, and the errors about the missing parts.

        Raises Unavailable if GitHub failed (`is_failure`) and sent no data: the answer's status is 200 even then.
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
        """Up to `most` items of the answer, or of its field `within`. `request` takes `per_page` and `page`."""
        page = 0
        while page * PAGE < most:
            page += 1
            response = self.send(operation, partial(request, per_page=PAGE, page=page))
            items = self.read(operation, response)
            items = items[within] if within else items
            yield from items[: most - (page - 1) * PAGE]
            # A partly filled page may not be the last: GitHub filters out entries, for example a spammer's.
            if len(items) < PAGE and "next" not in response.raw_response.links:
                return


def is_failure(error: GraphQLError) -> bool:
    """Whether GitHub failed or gave up. If so, a field that is null may have a value after all."""
    return error.message.startswith(_INTERNAL_ERROR) or error.type == _TOO_EXPENSIVE


def as_method(ask: Callable[Concatenate[Api, P], T]) -> Callable[Concatenate[Any, P], T]:
    """Turn a function of an `Api` into a method of a client that holds the `Api`."""

    @wraps(ask)
    def method(client: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return ask(client._api, *args, **kwargs)

    return method
