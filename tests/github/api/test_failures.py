"""One place turns githubkit's failures into ours."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest
from githubkit import Response
from githubkit.exception import (
    AuthCredentialError,
    PrimaryRateLimitExceeded,
    RequestError,
    RequestFailed,
    RequestTimeout,
)

from bot.domain.errors import (
    DoppelError,
    Forbidden,
    GitHubError,
    Invalid,
    NotFound,
    RateLimited,
    Retryable,
    Unavailable,
)
from bot.github.calls import translate


def answered(status: int, body: object = None, path: str = "/repos/a/b", **headers: str) -> RequestFailed:
    request = httpx.Request("GET", f"https://api.github.com{path}", headers={"Authorization": "token ghs_secret"})
    raw = httpx.Response(
        status, json=body, headers={k.replace("_", "-"): v for k, v in headers.items()}, request=request
    )
    return RequestFailed(Response(raw, object))


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, GitHubError),
        (401, Forbidden),
        (403, Forbidden),
        (451, Forbidden),
        (404, NotFound),
        (410, NotFound),
        (409, GitHubError),
        (422, Invalid),
        (500, Unavailable),
        (501, GitHubError),
        (503, Unavailable),
    ],
)
def test_each_status_has_its_error(status: int, kind: type[DoppelError]) -> None:
    error = translate("read a/b#1", answered(status, {"message": "No."}))
    assert type(error) is kind
    assert "read a/b#1" in str(error)
    if isinstance(error, GitHubError):
        assert (error.operation, error.status, error.detail) == ("read a/b#1", status, "No.")


def test_a_missing_permission_is_named() -> None:
    error = translate("label", answered(403, {"message": "No."}, x_accepted_github_permissions="issues=write"))
    assert str(error) == "label: 403 No. (needs issues=write)"


def test_what_is_not_known_everywhere_yet_is_no_refusal() -> None:
    said = {"code": "unprocessable", "message": "Could not resolve to a node with the global id of 'I_kwDOA'."}
    error = translate("comment on a/b#1", answered(422, {"message": "Validation Failed", "errors": [said]}))
    assert type(error) is Unavailable


def test_a_limit_that_only_githubkit_sees_keeps_its_time() -> None:
    """GraphQL reports its limit with status 200."""
    failed = answered(403)
    error = translate("x", PrimaryRateLimitExceeded(failed.response, timedelta(seconds=40)))
    assert isinstance(error, RateLimited)
    assert error.after == 40


def test_everything_else_is_said_without_the_librarys_words() -> None:
    secret = httpx.LocalProtocolError("Illegal header value b'token ghs_secret'")
    for problem in (RequestError(secret), AuthCredentialError("ghs_secret")):
        error = translate("x", problem)
        assert isinstance(error, GitHubError)
        assert "ghs_secret" not in str(error)
    assert isinstance(translate("x", RequestTimeout(httpx.ReadTimeout("late"))), Retryable)
