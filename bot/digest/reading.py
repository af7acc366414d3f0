"""A repository's digest from what is stored of it."""

from __future__ import annotations

from collections.abc import Mapping

from bot.calibration.recalibrating import said_of
from bot.calibration.rule import WINDOW
from bot.digest.week import Digest, digest
from bot.index import Index
from bot.store import Store

WEEK = 7 * 86_400.0


def digest_of(store: Store, repo_id: int, since: float, now: float) -> Digest:
    """What the bot did since then, with what people have said of it by `now`, also what the bar was put back from."""
    decisions = store.decisions.between(repo_id, since, now)
    said = said_of(store, repo_id, min(since, now - WINDOW), {one.number for one in decisions})
    return digest(decisions, said, since, now)


def titles_of(index: Index, repo_id: int, found: Digest) -> Mapping[int, str]:
    """The titles of the issues in its lines, as the index has them; what it has not is left out."""
    numbers = {number for line in found.lines for number in (line.number, line.other)}
    with index.view(repo_id) as view:
        return {number: title for number, (title, _) in view.texts(numbers).items()}
