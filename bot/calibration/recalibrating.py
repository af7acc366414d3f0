"""A repository's bar worked out anew from what is stored of it."""

from __future__ import annotations

from collections.abc import Container

from bot.calibration.rule import WINDOW, Calibration, Move, calibrate, points
from bot.config.model import MIN_CONFIDENCE
from bot.feedback import Example, examples
from bot.store import Store


def recalibrate(store: Store, repo_id: int, now: float) -> bool:
    """Work out and keep where the feedback puts the bar; whether that moved it."""
    known = store.calibrations.get(repo_id)
    found = calibration_of(store, repo_id, now)
    if known is None and found.move is Move.STAYS and not found.right and not found.wrong:
        # Nobody has said anything, and nothing need be kept.
        return False
    bar = None if found.move is Move.STAYS else found.bar
    return store.calibrations.move(repo_id, known, bar, found.right, found.wrong, now)


def calibration_of(store: Store, repo_id: int, now: float) -> Calibration:
    """Where the feedback puts the bar at present, whatever the settings say."""
    made = examples_of(store, repo_id, now)
    decisions = store.decisions.of_issues(repo_id, {one.number for one in made})
    return calibrate(points(decisions, made), MIN_CONFIDENCE)


def examples_of(store: Store, repo_id: int, now: float) -> list[Example]:
    """What counts for the bar: what was said in the last year, and since it was put back."""
    known = store.calibrations.get(repo_id)
    return said_of(store, repo_id, max(known.since if known else 0.0, now - WINDOW))


def said_of(store: Store, repo_id: int, since: float, about: Container[int] | None = None) -> list[Example]:
    """What was said since then: labelled pairs, the earliest first; with `about` those of these issues, and few more.

    A repository's year can be ten thousand decisions, and a week's issues need a few of them.
    """
    signals, verdicts = store.signals.since(repo_id, since), store.verdicts.since(repo_id, since)
    if about is not None:
        signals = [one for one in signals if one.number in about or one.other in about]
        verdicts = [one for one in verdicts if one.number in about or one.other in about]
    # Either of the two may be the one on which the other came into question.
    pairs = [(one.number, one.other) for one in signals] + [(one.number, one.other) for one in verdicts]
    numbers = {number for pair in pairs for number in pair}
    return examples(store.decisions.of_issues(repo_id, numbers), signals, verdicts, since)
