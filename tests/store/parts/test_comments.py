"""What the store promises of the bot's own comments (C1, C2), on SQLite and on PostgreSQL alike."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from bot.store import Claim, CommentState, Store
from tests.store.posting import note_posted

NOW = 1_000_000.0


def test_c2_exactly_one_may_write_and_a_later_one_must_look_first(store: Store) -> None:
    assert store.comments.claim(1, 2, 0, now=NOW, lease=15) is Claim.CLEAR
    assert store.comments.claimed_at(1, 2, 0) == NOW
    assert store.comments.claim(1, 2, 0, now=NOW + 14, lease=15) is Claim.BUSY
    assert store.comments.claim(1, 2, 0, now=NOW + 15, lease=15) is Claim.DOUBTFUL
    assert store.comments.claim(1, 2, 0, now=NOW + 15, lease=15) is Claim.BUSY
    note_posted(store, 1, 2, comment_id=5, body_hash="b", now=NOW)
    assert store.comments.claim(1, 2, 0, now=NOW + 99, lease=15) is Claim.SETTLED
    assert store.comments.claimed_at(1, 2, 0) is None
    found = store.comments.get(1, 2)
    assert found is not None
    assert (found.state, found.comment_id, found.text_hash, found.body_hash) == (CommentState.POSTED, 5, "t", "b")


def test_c1_what_was_deleted_before_its_number_was_known_is_deleted(store: Store) -> None:
    store.comments.claim(1, 2, 0, now=NOW, lease=15)
    store.comments.claim(1, 2, 7, now=NOW, lease=15)
    assert not store.comments.mark_deleted(1, 2, 50, NOW), "nobody knows where it was"
    assert store.comments.mark_deleted(1, 2, 50, NOW, 7)
    # Who looked for it before that was heard of found nothing, and had nothing to say.
    store.comments.answer_silently(1, 4, text_hash="t", now=NOW)
    assert store.comments.mark_deleted(1, 4, 50, NOW, 0)
    assert store.comments.claim(1, 4, 0, now=NOW, lease=15) is Claim.SETTLED
    assert store.comments.claim(1, 2, 7, now=NOW + 99, lease=15) is Claim.SETTLED
    assert store.comments.claim(1, 2, 0, now=NOW + 99, lease=15) is Claim.DOUBTFUL
    note_posted(store, 1, 2, comment_id=5, body_hash="b", now=NOW)
    assert not store.comments.mark_deleted(1, 2, 50, NOW, 0), "another one is there"


def test_c1_what_was_deleted_without_ever_being_known_is_deleted(store: Store) -> None:
    store.comments.claim(1, 2, 0, now=NOW, lease=15)
    assert store.comments.mark_deleted(1, 3, 50, NOW, 0)
    assert store.comments.mark_deleted(1, 3, 50, NOW, 0), "the same once more"
    assert store.comments.claim(1, 3, 0, now=NOW + 99, lease=15) is Claim.SETTLED
    assert store.comments.claim(1, 3, 7, now=NOW, lease=15) is Claim.CLEAR, "another place"
    assert store.comments.claim(1, 2, 0, now=NOW + 99, lease=15) is Claim.DOUBTFUL, "another issue"


def test_c2_of_many_at_once_one_may_write(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        claims = list(pool.map(lambda _: store.comments.claim(1, 2, 0, now=NOW, lease=15), range(8)))
    assert sorted(claims) == [Claim.BUSY] * 7 + [Claim.CLEAR]


def test_c2_a_claim_ahead_of_the_clock_is_of_before_it_was_set_back(store: Store) -> None:
    assert store.comments.claim(1, 2, 0, now=NOW + 86_400, lease=15) is Claim.CLEAR
    assert store.comments.claim(1, 2, 0, now=NOW, lease=15) is Claim.DOUBTFUL
    assert store.comments.claim(1, 2, 0, now=NOW, lease=15) is Claim.BUSY


def test_c2_a_claim_is_renewed_and_released_only_by_who_holds_it(store: Store) -> None:
    store.comments.claim(1, 2, 0, now=NOW, lease=15)
    assert store.comments.renew(1, 2, 0, since=NOW, now=NOW + 10)
    assert store.comments.claim(1, 2, 0, now=NOW + 24, lease=15) is Claim.BUSY
    assert store.comments.claim(1, 2, 0, now=NOW + 25, lease=15) is Claim.DOUBTFUL
    assert not store.comments.renew(1, 2, 0, since=NOW + 10, now=NOW + 26), "it is another one's by now"
    store.comments.release(1, 2, 0, since=NOW + 10)
    assert store.comments.claim(1, 2, 0, now=NOW + 26, lease=15) is Claim.BUSY


def test_c2_a_released_claim_is_free_at_once_but_doubtful(store: Store) -> None:
    store.comments.claim(1, 2, 0, now=NOW, lease=15)
    store.comments.release(1, 2, 0, since=NOW)
    assert store.comments.claim(1, 2, 0, now=NOW, lease=15) is Claim.DOUBTFUL


def test_c2_what_may_have_been_written_is_looked_for_though_others_had_nothing_to_say_meanwhile(store: Store) -> None:
    store.comments.claim(1, 2, 0, now=NOW, lease=15)
    store.comments.answer_silently(1, 2, text_hash="t", now=NOW + 1)
    assert store.comments.claim(1, 2, 0, now=NOW + 16, lease=15) is Claim.DOUBTFUL
    store.comments.settle(1, 2, 0, comment_id=None, text_hash="t", body_hash="", shown=(), now=NOW + 17, since=NOW + 16)
    assert store.comments.claim(1, 2, 0, now=NOW + 17, lease=15) is Claim.CLEAR, "who claimed it has looked"


def test_silence_is_recorded_and_can_be_broken(store: Store) -> None:
    store.comments.answer_silently(1, 2, text_hash="t", now=NOW)
    found = store.comments.get(1, 2)
    assert found is not None
    assert (found.state, found.text_hash) == (CommentState.SILENT, "t")
    assert store.comments.claim(1, 2, 0, now=NOW, lease=15) is Claim.CLEAR


def test_c1_a_deleted_comment_stays_deleted(store: Store) -> None:
    note_posted(store, 1, 2, comment_id=5, now=NOW)
    assert not store.comments.mark_deleted(1, 2, 6, NOW)
    assert store.comments.mark_deleted(1, 2, 5, NOW)
    note_posted(store, 1, 2, text_hash="t2", comment_id=7, now=NOW)
    assert store.comments.claim(1, 2, 0, now=NOW + 99, lease=15) is Claim.SETTLED
    found = store.comments.get(1, 2)
    assert found is not None
    assert (found.state, found.comment_id) == (CommentState.DELETED, 5)


def test_what_was_shown_stays_known_when_nothing_is_left(store: Store) -> None:
    note_posted(store, 1, 2, comment_id=5, shown=[7, 8], now=NOW)
    note_posted(store, 1, 2, text_hash="u", comment_id=5, now=NOW)
    found = store.comments.get(1, 2)
    assert found is not None
    assert (found.text_hash, found.shown) == ("u", (7, 8))


def test_c2_an_edited_command_keeps_its_reply(store: Store) -> None:
    assert store.comments.get(1, 2, 5) is None
    store.comments.answer_silently(1, 2, 5, text_hash="one", now=NOW)
    note_posted(store, 1, 2, 5, text_hash="one", comment_id=50, body_hash="b", now=NOW)
    store.comments.answer_silently(1, 2, 5, text_hash="two", now=NOW)
    reply = store.comments.get(1, 2, 5)
    assert reply is not None
    assert (reply.state, reply.comment_id, reply.text_hash, reply.body_hash) == (
        CommentState.POSTED,
        50,
        "two",
        "b",
    )
    assert store.comments.get(1, 2) is None, "the advisory comment is another one"
