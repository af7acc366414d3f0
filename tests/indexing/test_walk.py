"""Where to go on in a list of issues that changes while it is read; and how fast."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.github.changes import Budget
from bot.search.issue_pages import AGAIN, LATEST, LOST, PagePosition, last_position, next_position, pause, retry

START = datetime(2026, 3, 10, 12, tzinfo=UTC)


def second(number: int) -> datetime:
    return START + timedelta(seconds=number)


def test_at_the_end_a_minute_is_looked_at_again() -> None:
    assert last_position(PagePosition("2026-03-10T11:00:00Z", "abc", 3), second(0)) == PagePosition(
        "2026-03-10T11:59:00Z"
    )
    assert last_position(PagePosition("2026-03-10T11:00:00Z"), None) == PagePosition("2026-03-10T11:00:00Z")
    assert last_position(PagePosition(), None) == PagePosition()
    assert last_position(PagePosition(), datetime(2, 1, 1, tzinfo=UTC)) == PagePosition("0001-12-31T23:59:00Z"), (
        "a file's first years too"
    )


@pytest.mark.parametrize(
    "position",
    [PagePosition(), PagePosition("2026-03-10T12:00:00Z"), PagePosition("", "a b", 2), PagePosition("x", "", 7)],
)
def test_a_position_is_kept_as_text(position: PagePosition) -> None:
    assert PagePosition.parse(str(position)) == position


@pytest.mark.slow
@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=40),
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 39)), max_size=12),
    st.booleans(),
)
def test_nothing_is_missed_whatever_changes_meanwhile(
    changed: list[int], changes: list[tuple[int, int]], inclusive: bool
) -> None:
    """A list of pages of three, in which `changes` happen: before page I, issue N is changed, and is the last then."""
    times = dict(enumerate(changed))
    seen: dict[int, int] = {}
    position, pages, end = PagePosition(), 0, False
    while not end:
        for before, number in changes:
            if before == pages and number in times:
                times[number] = max(times.values()) + 1
        since = START - timedelta(days=1) if not position.since else datetime.fromisoformat(position.since)
        listed = sorted(
            (second(at), number)
            for number, at in times.items()
            if second(at) > since or (inclusive and second(at) == since)
        )
        if position.after:
            shown = position.after.split("/")
            listed = [one for one in listed if one > (second(int(shown[0])), int(shown[1]))]
        page, end = listed[:3], len(listed) <= 3
        seen |= {number: times[number] for _, number in page}
        pages += 1
        if end:
            position = last_position(position, page[-1][0] if page else None)
        else:
            at, number = page[-1]
            position = next_position(position, at, f"{int((at - START).total_seconds())}/{number}")
        assert pages < 200
    assert seen == times


def test_an_installation_keeps_a_third_of_its_hour() -> None:
    assert pause(5, None) == 1.0
    assert pause(5, Budget(2_500, 5_000, 1_000.0)) == 1.0
    assert pause(5, Budget(2_499, 5_000, 1_000.0)) == 5.0
    assert pause(5, Budget(1_499, 5_000, 1_000.0)) == 1_001.0
    assert pause(5, Budget(0, 5_000, 10_000.0)) == LATEST


def test_what_failed_waits_as_long_as_github_says_and_is_not_taken_for_lost() -> None:
    assert (retry(None), retry(10.0), retry(900.0), retry(1e6)) == (AGAIN, AGAIN, 900.0, LATEST)
    assert LOST > LATEST + AGAIN
