"""What is paid ahead: never more is used in a minute than was allowed, and little is bought where little is needed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.github.limits.purse import FIRST, GOOD_FOR, MOST, Purse
from bot.github.limits.windows import Window

MINUTE, LIMIT = 60, 120


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 2), st.sampled_from([1, 5])), max_size=200))
def test_no_minute_ever_has_more_than_the_limit_however_many_have_purses(steps: list[tuple[int, int, int]]) -> None:
    """Each step: seconds that pass, whose request it is, what it costs."""
    shared, purses, now = Window(LIMIT, MINUTE + GOOD_FOR), [Purse() for _ in range(3)], 0
    used: list[tuple[int, int]] = []
    for pause, whose, amount in steps:
        now, purse = now + pause, purses[whose]
        if wanted := purse.wanting(now, amount):
            if shared.delay(now, wanted):
                continue
            shared.spend(now, wanted)
            purse.fill(now, wanted)
        purse.spend(amount)
        used.append((now, amount))
    assert all(sum(cost for at, cost in used if end - MINUTE < at <= end) <= LIMIT for end, _ in used)


def test_who_asks_much_buys_more_at_once_and_who_asks_seldom_little() -> None:
    busy, idle = Purse(), Purse()
    bought, now = [], 0.0
    for _ in range(300):
        if wanted := busy.wanting(now, 1):
            busy.fill(now, wanted)
            bought.append(wanted)
        busy.spend(1)
        now += 0.01
    assert bought[:4] == [FIRST, 2 * FIRST, 4 * FIRST, 8 * FIRST]
    assert set(bought[4:]) == {MOST}
    for turn in range(5):
        assert idle.wanting(turn * GOOD_FOR, 1) == FIRST
        idle.fill(turn * GOOD_FOR, FIRST)
        idle.spend(1)
    assert busy.wanting(now + GOOD_FOR, 1) == FIRST


def test_what_is_left_is_spent_to_the_last_unit() -> None:
    purse = Purse()
    purse.fill(0.0, 3)
    purse.spend(1)
    assert (purse.wanting(0.0, 2), purse.wanting(0.0, 3)) == (0, 2 * FIRST)
