"""Recalculates a repository's threshold from the feedback that is stored."""

from __future__ import annotations

from collections.abc import Container

from bot.calibration.rule import WINDOW, Calibration, Move, calibrate, points
from bot.config.model import MIN_CONFIDENCE
from bot.feedback import Example, examples
from bot.store import Store


def recalibrate(store: Store, repo_id: int, now: float) -> bool:
    """Recalculate and store the threshold; return whether it moved."""
    known = store.calibrations.get(repo_id)
    found = calibration_of(store, repo_id, now)
    if known is None and found.move is Move.STAYS and not found.right and not found.wrong:
        # There is no feedback, so there is nothing to store.
        return False
    bar = None if found.move is Move.STAYS else found.bar
    return store.calibrations.move(repo_id, known, bar, found.right, found.wrong, now)


def calibration_of(store: Store, repo_id: int, now: float) -> Calibration:
    """The threshold by the present feedback, whatever the settings say."""
    made = examples_of(store, repo_id, now)
    decisions = store.decisions.of_issues(repo_id, {one.number for one in made})
    return calibrate(points(decisions, made), MIN_CONFIDENCE)


def examples_of(store: Store, repo_id: int, now: float) -> list[Example]:
    """The feedback that counts: of the last year, and since the threshold was last reset."""
    known = store.calibrations.get(repo_id)
    return said_of(store, repo_id, max(known.since if known else 0.0, now - WINDOW))


def said_of(store: Store, repo_id: int, since: float, about: Container[int] | None = None) -> list[Example]:
    """The feedback since then as labelled pairs, earliest first; with `about`, only pairs with one of these issues.

    A repository can have ten thousand decisions in a year, and one week's issues need few of them.
    """
    signals, verdicts = store.signals.since(repo_id, since), store.verdicts.since(repo_id, since)
    if about is not None:
        signals = [one for one in signals if one.number in about or one.other in about]
        verdicts = [one for one in verdicts if one.number in about or one.other in about]
    # Either issue of a pair may be the one on which the other was suggested.
    numbers = {number for one in signals for number in (one.number, one.other)}
    numbers |= {number for one in verdicts for number in (one.number, one.other)}
    return examples(store.decisions.of_issues(repo_id, numbers), signals, verdicts, since)
