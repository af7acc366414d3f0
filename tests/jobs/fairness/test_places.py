"""Places: whose turn it is, and that many threads get through."""

from __future__ import annotations

import threading
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.jobs.fairness.places import Places, Waiting, next_job
from tests.waiting import LONGEST

owners = st.sampled_from("abcd")


@given(st.lists(owners), st.lists(owners), st.integers(1, 6))
def test_turns(queue: list[str], working: list[str], each: int) -> None:
    waiting, held = [Waiting(ticket, owner) for ticket, owner in enumerate(queue)], Counter(working)
    chosen = next_job(waiting, held, each)
    may_begin = [one for one in waiting if held[one.owner] < each and held.total() <= each]
    if chosen is None:
        assert not may_begin, "a place stays empty only where nobody may have it"
    else:
        assert chosen in may_begin
        assert all((held[chosen.owner], chosen.ticket) <= (held[one.owner], one.ticket) for one in may_begin), (
            "who has least comes first"
        )


@pytest.mark.slow
@given(st.lists(owners, max_size=30), st.integers(1, 4))
def test_alone_all_places_are_for_one_and_a_second_owner_never_waits_for_it(queue: list[str], each: int) -> None:
    held = Counter({"a": each})
    waiting = [Waiting(ticket, owner) for ticket, owner in enumerate(queue)]
    chosen = next_job(waiting, held, each)
    assert chosen == next((one for one in waiting if one.owner != "a"), None)
    assert next_job([Waiting(1, "a")], Counter({"a": each - 1}), each) == Waiting(1, "a")


def test_many_threads_all_get_their_turn_and_never_too_many_at_once() -> None:
    places, lock = Places(3), threading.Lock()
    now: Counter[str] = Counter()
    most: Counter[str] = Counter()
    done: list[str] = []

    def work(owner: str) -> None:
        with places.one_for(owner):
            with lock:
                now[owner] += 1
                for name, count in (*now.items(), ("all", now.total())):
                    most[name] = max(most[name], count)
            with lock:
                now[owner] -= 1
                done.append(owner)

    threads = [threading.Thread(target=work, args=("ab"[n % 5 == 0],)) for n in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONGEST)
    assert len(done) == 200
    assert most["all"] <= 4
    assert max(most["a"], most["b"]) <= 3
