"""The one place where githubkit's failures become those of `bot.errors`, without a token, key or header in them."""

from __future__ import annotations

from githubkit.exception import GitHubException, RateLimitExceeded, RequestError, RequestFailed, RequestTimeout

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
