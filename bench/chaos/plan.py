"""What is to happen in a chaos run, and what did."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from bench.chaos.judge import Judgement


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to happen. `pace` is deeds a second, `kill_every` and `calamity` are seconds (0: none).

    `web` is how many processes gunicorn has. A worker stands still `freezes` times, for `frozen` seconds.

    `faults` is how much more often than usual GitHub errs (0: never), and `only` the one way in which it does. `disk`
    is a small file system of its own, for the databases, that is filled to the last byte.
    """

    seed: int = 1
    deliveries: int = 2_000
    issues: int = 300
    owners: int = 8
    web: int = 2
    workers: int = 1
    postgres: bool = False
    pace: float = 8.0
    kill_every: float = 4.0
    faults: float = 1.0
    only: str = ""
    redelivered: float = 0.05
    calamity: float = 8.0
    freezes: int = 4
    frozen: float = 12.0
    deadly_poison: bool = True
    short_waits: bool = True
    sabotage: str = ""
    disk: Path | None = None
    drain_within: float = 900.0


@dataclass(slots=True)
class Result:
    """What happened, in figures."""

    judgement: Judgement
    deliveries: int = 0
    redeliveries: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    calamities: list[str] = field(default_factory=list)
    seconds: float = 0.0
    drained_after: float = 0.0
