"""What people ticked in the digest's issue, kept as what they said."""

from __future__ import annotations

from bot.digest import boxes
from bot.index import Index
from bot.judgements import Kind
from bot.store import Store


def take_boxes(store: Store, index: Index, repo_id: int, body: str, login: str, now: float) -> int:
    """Keep what the boxes in the text of the digest's issue say as signals of that person; how many have changed."""
    signals = store.signals
    known = boxes.known_boxes(signals.since(repo_id, 0.0))
    new, gone = boxes.changed(body, known, login, now)
    # A box stays when one of its issues has been deleted or transferred, of which nothing is kept any more.
    looked_at = {one.number for one in store.decisions.of_issues(repo_id, {one.number for one in new})}
    others = {one.other for one in new}
    if store.backfills.complete(repo_id):
        with index.view(repo_id) as view:
            others = set(view.issues(others))
    new = [one for one in new if one.number in looked_at and one.other in others]
    for number, other in (*gone, *((one.number, one.other) for one in new)):
        # Whose box it was does not matter: it is one box for all.
        signals.drop(repo_id, number, Kind.BOX, other)
    for signal in new:
        signals.put(repo_id, signal)
    return len(new) + len(gone)
