"""G: what an answer means for the request that got it."""

from __future__ import annotations

from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.github.limits import RETRIES, NextStep, Ok, ResponseData, Retry, decide, find_limit, quota, retry_after

NOW = 1_800_000_000.0
SECONDARY = b'{"message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}'
PRIMARY = b'{"message": "API rate limit exceeded for installation ID 12."}'
NO_PERMISSION = b'{"message": "Resource not accessible by integration", "status": "403"}'


def judge(answer: ResponseData, **changes: object) -> NextStep:
    options: dict[str, object] = {"attempt": 0, "repeatable": True, "patience": 20.0, "now": NOW, "resource": "core"}
    return decide(answer, **{**options, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("status", [200, 201, 204, 301, 304, 400, 401, 404, 410, 422])
def test_answers_that_waiting_cannot_change_are_handed_over(status: int) -> None:
    assert judge(ResponseData(status)) == Ok()


RESET = str(int(NOW) + 1000)
GRAPHQL = b'{"data": null, "errors": [{"type": "RATE_LIMIT", "message": "API rate limit already exceeded"}]}'
SLOWER = b'{"errors": [{"message": "You have exceeded a secondary rate limit"}]}'
TYPED = b'{"data": {"a": 1}, "errors": [{"type": "RATE_LIMITED", "message": "A secondary rate limit"}]}'
UNTOLD = b'{"errors": [{"type": "RATE_LIMITED", "message": "Too many requests"}]}'
IN_PART = b'{"data": {"a": 1}, "errors": [{"message": "No issue is called We hit a secondary rate limit"}]}'
QUOTED = b'{"data": {"search": {"nodes": [{"title": "We hit a secondary rate limit"}]}}, "errors": [{"message": "No"}]}'


@pytest.mark.parametrize(
    ("body", "headers", "after", "resource"),
    [
        (GRAPHQL, {"x-ratelimit-remaining": "17", "x-ratelimit-reset": RESET}, 1001, "graphql"),
        (GRAPHQL, {"retry-after": "5", "x-ratelimit-reset": RESET}, 5, "graphql"),
        (SLOWER, {"x-ratelimit-remaining": "17", "x-ratelimit-reset": RESET}, 60, None),
        (SLOWER, {"retry-after": "Fri, 15 Jan 2027 08:00:30 GMT"}, 30, None),
        (TYPED, {"x-ratelimit-remaining": "17", "x-ratelimit-reset": RESET}, 60, None),
        (UNTOLD, {"x-ratelimit-remaining": "17", "x-ratelimit-reset": RESET}, 1001, "graphql"),
        (UNTOLD, {}, 60, None),
    ],
)
def test_g_graphql_tells_of_limits_in_its_body(
    body: bytes, headers: dict[str, str], after: float, resource: str | None
) -> None:
    limit = find_limit(ResponseData(200, headers, body), now=NOW, resource="graphql")
    assert limit is not None
    assert (limit.after, limit.resource) == (after, resource)


@pytest.mark.parametrize("body", [QUOTED, IN_PART, b"rate limit", b'["rate limit"]', b'{"errors": "rate limit"}', b""])
def test_what_people_write_about_limits_is_none(body: bytes) -> None:
    assert find_limit(ResponseData(200, {"retry-after": "5"}, body), now=NOW, resource="graphql") is None


@pytest.mark.parametrize(
    "error",
    [
        b'{"code": "unprocessable", "field": "data", "message": "was submitted too quickly"}',
        b'{"code": "abuse", "field": "base"}',
    ],
)
def test_g_what_was_written_too_fast_is_refused_like_what_is_wrong(error: bytes) -> None:
    limit = find_limit(
        ResponseData(422, {}, b'{"message": "Validation Failed", "errors": [%s]}' % error), now=NOW, resource="core"
    )
    assert limit is not None
    assert (limit.after, limit.resource, limit.stated) == (60, None, False)


@pytest.mark.parametrize(
    "body",
    [
        b'{"message": "Validation Failed", "errors": [{"code": "custom", "message": "The abuse goes on"}]}',
        b'{"message": "was submitted too quickly"}',
        b'{"errors": ["abuse", {"code": ["abuse"]}]}',
        b'["abuse"]',
        b"abuse",
    ],
)
def test_a_422_that_says_anything_else_is_none(body: bytes) -> None:
    assert judge(ResponseData(422, {"retry-after": "5"}, body)) == Ok()


def test_a_429_is_a_limit_whatever_it_says_and_a_403_only_if_it_says_so() -> None:
    assert find_limit(ResponseData(429), now=NOW, resource="core") is not None
    assert judge(ResponseData(403, {}, NO_PERMISSION)) == Ok()
    assert judge(ResponseData(403, {"x-ratelimit-remaining": "4321"}, b"<html>no</html>")) == Ok()
    assert (
        find_limit(ResponseData(403, {}, b'{"message": "abuse detection mechanism"}'), now=NOW, resource="core")
        is not None
    )


def test_a_secondary_limit_covers_everything_even_where_nothing_remains() -> None:
    headers = {"x-ratelimit-remaining": "0", "retry-after": "5"}
    secondary = find_limit(ResponseData(403, headers, SECONDARY), now=NOW, resource="search")
    primary = find_limit(ResponseData(403, headers, PRIMARY), now=NOW, resource="search")
    assert secondary is not None
    assert primary is not None
    assert (secondary.resource, primary.resource) == (None, "search")


headers = st.dictionaries(
    st.sampled_from(["retry-after", "x-ratelimit-remaining", "x-ratelimit-reset", "x-ratelimit-resource"]),
    st.one_of(st.integers(-10, 10**12).map(str), st.text(max_size=30), st.just("0"), st.floats(0, 4e9).map(formatdate)),
)
bodies = st.one_of(st.sampled_from([SECONDARY, PRIMARY, NO_PERMISSION]), st.binary(max_size=50))
answers = st.builds(ResponseData, st.sampled_from([0, 200, 301, 403, 404, 429, 500, 502, 503, 599]), headers, bodies)


@pytest.mark.slow
@given(
    answer=answers,
    attempt=st.integers(0, 10),
    repeatable=st.booleans(),
    patience=st.floats(-5, 100),
    strikes=st.integers(0, 100),
    jitter=st.floats(0, 1, exclude_max=True),
)
def test_no_answer_is_too_odd_and_no_wait_is_too_short_or_too_long(
    answer: ResponseData, attempt: int, repeatable: bool, patience: float, strikes: int, jitter: float
) -> None:
    verdict = judge(answer, attempt=attempt, repeatable=repeatable, patience=patience, strikes=strikes, jitter=jitter)
    if isinstance(verdict, Retry):
        assert attempt < RETRIES
        assert 0 <= verdict.after <= patience
        assert repeatable or verdict.limit is not None
    if answer.status in (200, 301, 404):
        assert verdict == Ok()
    if answer.status in (403, 429) and not isinstance(verdict, Ok):
        limit = verdict.limit
        assert limit is not None
        wanted = retry_after(answer.headers, NOW)
        assert limit.after >= (wanted or 0)
        assert limit.stated or limit.after >= 60


def test_retry_after_can_be_a_date() -> None:
    assert retry_after({"retry-after": formatdate(NOW + 30, usegmt=True)}, NOW) == 30.0
    assert retry_after({"retry-after": formatdate(NOW - 30, usegmt=True)}, NOW) == 0.0
    assert retry_after({"retry-after": "soon"}, NOW) is None
    assert retry_after({}, NOW) is None


@pytest.mark.parametrize(
    "headers",
    [
        {"retry-after": "9000000000"},
        {"retry-after": "Fri, 15 Jan 2100 08:00:30 GMT"},
        {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9000000000"},
    ],
)
def test_a_limit_of_years_is_believed_for_a_day(headers: dict[str, str]) -> None:
    limit = find_limit(ResponseData(429, headers), now=NOW, resource="core")
    assert limit is not None
    assert 86_400 <= limit.after <= 86_401


def test_what_is_left_is_believed_for_a_day_and_only_if_it_is_a_number() -> None:
    assert quota({"x-ratelimit-remaining": "7", "x-ratelimit-reset": str(int(NOW) + 30)}, NOW) == (7, 30.0)
    assert quota({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9000000000"}, NOW) == (0, 86_400.0)
    assert quota({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" * 5000}, NOW) is None
    assert quota({"x-ratelimit-reset": str(int(NOW))}, NOW) is None
