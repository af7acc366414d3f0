"""One identity at GitHub: githubkit's client for it, and the one way in which everything is asked through it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import githubkit
from githubkit.exception import GitHubException, GraphQLFailed
from githubkit.graphql import GraphQLError

from bot.errors import Forbidden, KeyRefused, Unavailable
from bot.github.api.failures import translate
from bot.github.api.switched_off import SwitchedOff

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
        try:
            return request()
        except GitHubException as problem:
            error = translate(operation, problem)
        stale = isinstance(error, KeyRefused) or (isinstance(error, Forbidden) and error.unknown)
        if not (stale and self._forget_tokens):
            raise error
        self.forget_tokens()
        try:
            return request()
        except GitHubException as problem:
            error = translate(operation, problem)
        if isinstance(error, Forbidden) and error.unknown:
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
