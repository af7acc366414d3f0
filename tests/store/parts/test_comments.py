"""What the store promises of the bot's own comments (C1, C2), on SQLite and on PostgreSQL alike."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from bot.storage import ClaimOutcome, CommentState, Store
from tests.store.posting import note_posted

NOW = 1_000_000.0


def test_c2_exactly_one_may_write_and_a_later_one_must_look_first(store: Store) -> None:
    assert store.comments.claim(1, 2, 0, now=NOW, lease=15) is ClaimOutcome.CLEAR
    assert store.comments.claimed_at(1, 2, 0) == NOW
    assert store.comments.claim(1, 2, 0, now=NOW + 14, lease=15) is ClaimOutcome.BUSY
    assert store.comments.claim(1, 2, 0, now=NOW + 15, lease=15) is ClaimOutcome.DOUBTFUL
    assert store.comments.claim(1, 2, 0, now=NOW + 15, lease=15) is ClaimOutcome.BUSY
    note_posted(store, 1, 2, comment_id=5, body_hash="b", now=NOW)
    assert store.comments.claim(1, 2, 0, now=NOW + 99, lease=15) is ClaimOutcome.SETTLED
    assert store.comments.claimed_at(1, 2, 0) is None
    found = store.comments.get(1, 2)
    assert found is not None
    assert (found.state, found.comment_id, found.text_hash, found.body_hash) == (CommentState.POSTED, 5, "t", "b")


def test_c2_of_many_at_once_one_may_write(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        claims = list(pool.map(lambda _: store.comments.claim(1, 2, 0, now=NOW, lease=15), range(8)))
    assert sorted(claims) == [ClaimOutcome.BUSY] * 7 + [ClaimOutcome.CLEAR]


def test_c2_the_lease_of_a_claim_ahead_of_the_clock_begins_again(store: Store) -> None:
    """Somebody has set the clock back, and what the claim was for may be written only now."""
    assert store.comments.claim(1, 2, 0, now=NOW + 86_400, lease=15) is ClaimOutcome.CLEAR
    assert store.comments.claim(1, 2, 0, now=NOW, lease=15) is ClaimOutcome.BUSY
    assert store.comments.claim(1, 2, 0, now=NOW + 14, lease=15) is ClaimOutcome.BUSY
    assert store.comments.claim(1, 2, 0, now=NOW + 15, lease=15) is ClaimOutcome.DOUBTFUL


def test_c2_what_may_have_been_written_is_looked_for_though_others_had_nothing_to_say_meanwhile(store: Store) -> None:
    store.comments.claim(1, 2, 0, now=NOW, lease=15)
    store.comments.record_silence(1, 2, text_hash="t", now=NOW + 1)
    assert store.comments.claim(1, 2, 0, now=NOW + 16, lease=15) is ClaimOutcome.DOUBTFUL
    store.comments.settle(1, 2, 0, comment_id=None, text_hash="t", body_hash="", shown=(), now=NOW + 17, since=NOW + 16)
    assert store.comments.claim(1, 2, 0, now=NOW + 17, lease=15) is ClaimOutcome.CLEAR, "who claimed it has looked"
