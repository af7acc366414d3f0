"""A repository's digest from what is stored of it, and what people ticked in its issue, kept as what they said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.calibration.recalibrating import said_of
from bot.calibration.rule import WINDOW
from bot.digest import boxes
from bot.digest.week import Digest, digest
from bot.index import Index
from bot.judgements import Kind
from bot.store import Store

WEEK = 7 * 86_400.0


def digest_of(store: Store, repo_id: int, since: float, now: float) -> Digest:
    """What the bot did since then, with what people have said of it by `now`, also what the bar was put back from."""
    decisions = store.decisions.between(repo_id, since, now)
    said = said_of(store, repo_id, min(since, now - WINDOW), {one.number for one in decisions})
    spent = store.judgements.spent(repo_id, since, now)
    return replace(digest(decisions, said, since, now), asked=spent.calls, cost=spent.cost)


def titles_of(index: Index, repo_id: int, found: Digest) -> Mapping[int, str]:
    """The titles of the issues in its lines, as the index has them; what it has not is left out."""
    numbers = {number for line in found.lines for number in (line.number, line.other)}
    with index.view(repo_id) as view:
        return {number: title for number, (title, _) in view.texts(numbers).items()}


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
