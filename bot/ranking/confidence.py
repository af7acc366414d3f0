"""Which of a list stand out, and from what: constants of `bot/matching/confidence.py`."""

from __future__ import annotations

LEADERS = 20
"""How many of a list are given a probability, the best: what comes after is at most as likely as the last."""

BACKGROUND = slice(5, 25)
"""Ranks (from 0) that stand for what an unrelated issue scores here; short lists have no such ranks."""

LEAST_BACKGROUND = 3
"""Where fewer have such ranks, all but the first stand for it."""

ALONE = 3.0
"""How far the only one of a list stands above it."""
