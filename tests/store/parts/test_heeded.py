"""Which delivery has the commands of a comment carried out (C4)."""

from __future__ import annotations

from bot.storage import Store

FIRST, LATER = "2026-01-02T03:04:05Z", "2026-01-02T03:04:06Z"


def begin(store: Store, said_at: str, text_hash: str, delivery: str, comment_id: int = 7) -> bool:
    return store.handled_commands.begin(1, 2, comment_id, said_at=said_at, text_hash=text_hash, delivery=delivery)


def test_c4_one_delivery_begins_and_goes_on_until_it_is_done(store: Store) -> None:
    assert begin(store, FIRST, "a", "one")
    assert not begin(store, FIRST, "a", "two")
    assert begin(store, FIRST, "a", "one"), "its next try"
    store.handled_commands.end(1, 2, 7, text_hash="a")
    assert not any(begin(store, FIRST, "a", delivery) for delivery in ("one", "two"))
    assert begin(store, FIRST, "a", "two", comment_id=8), "another comment"


def test_c4_of_what_was_said_in_one_second_each_counts_and_of_what_was_said_before_none(store: Store) -> None:
    assert begin(store, LATER, "a", "one")
    assert begin(store, LATER, "b", "two")
    store.handled_commands.end(1, 2, 7, text_hash="b")
    assert begin(store, LATER, "a", "one")
    assert not begin(store, FIRST, "c", "three")
    assert not begin(store, LATER, "b", "three")
    assert begin(store, LATER.replace("06Z", "07Z"), "d", "four")
    assert not begin(store, LATER, "a", "one"), "something later was heeded since"
