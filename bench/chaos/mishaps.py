"""What goes wrong in a chaos run: GitHub errs, processes are killed, the whole host is befallen."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable

from bench.chaos import worker
from bench.chaos.databases import fill
from bench.chaos.fleet import Fleet
from bench.chaos.plan import Plan
from bench.chaos.story import Deed
from bench.chaos.world import World
from bot.simulator.faults import Faults

FAULTS: tuple[tuple[str, str | int, float, dict[str, object]], ...] = (
    ("POST /repos/*", "timeout_after_write", 0.03, {}),
    ("POST /repos/*", "reset_after_write", 0.03, {}),
    ("PATCH /repos/*", "timeout_after_write", 0.03, {}),
    ("*", 502, 0.035, {}),
    ("*", 500, 0.015, {}),
    ("*", 503, 0.01, {"retry_after": 1}),
    ("*", "reset", 0.015, {}),
    ("*", "timeout", 0.005, {}),
    ("*", "malformed", 0.015, {}),
    ("*", "secondary_limit", 0.015, {"retry_after": 1}),
    ("*", "secondary_limit", 0.005, {"retry_after": 1, "code": 429}),
)
"""Path, kind and chance of what GitHub does wrong: about a tenth of all requests."""


class Weather:
    """What GitHub does wrong, from now on until it clears; `requests` came in that time."""

    def __init__(self, faults: Faults, plan: Plan) -> None:
        self._faults, self._before, self.requests = faults, faults.requests, 0
        self._injected = [
            faults.add(path, kind, times=None, probability=min(1.0, chance * plan.faults), seed=plan.seed + n, **more)  # type: ignore[arg-type]
            for n, (path, kind, chance, more) in enumerate(FAULTS)
            if plan.only in ("", kind)
        ]

    def clear(self) -> None:
        """Let everything work from now on."""
        if not self.requests:
            self.requests = self._faults.requests - self._before
            self._faults.clear()

    def hits(self) -> Counter[str]:
        """How often each kind of fault has struck."""
        return Counter({str(one.status if one.kind == "status" else one.kind): one.hits for one in self._injected})


def calamities(run: World, fleet: Fleet) -> dict[float, Callable[[], None]]:
    """What befalls the whole host, by the share of the deeds that have been done before."""
    if not run.plan.calamity:
        return {}
    seconds = run.plan.calamity

    def aside(name: str, work: Callable[[], object]) -> Callable[[], None]:
        def begin() -> None:
            run.calamities.append(name)
            threading.Thread(target=work, name=name, daemon=True).start()

        return begin

    def poison() -> None:
        run.calamities.append("poison")
        (run.home / "poison").touch()
        for issue, author in zip(run.poisonous, (worker.RAISES, worker.KILLS), strict=False):
            run.open(issue, 0, author)
            run.tales[issue].take(Deed("open", issue, 0))

    def away() -> None:
        if run.plan.disk:
            fill(run.plan.disk, seconds)
            run.base.wake()
        elif not run.base.gone(seconds):
            fleet.full_disk(True)
            time.sleep(seconds)
            fleet.full_disk(False)

    def clock(offset: float) -> Callable[[], None]:
        def jump() -> None:
            run.calamities.append(f"clock {offset / 3600:+.0f} h")
            (run.home / "clock").write_text(str(offset))

        return jump

    return {
        0.10: poison,
        0.25: aside("database locked", lambda: run.base.locked(seconds)),
        0.45: aside("database gone" if run.plan.postgres and not run.plan.disk else "disk full", away),
        0.65: clock(3600.0),
        0.75: clock(-7200.0),
        0.85: clock(0.0),
    }


def strike(plan: Plan, fleet: Fleet, calm: threading.Event) -> None:
    """Kill a process now and then, until it is calm."""
    rng = random.Random(plan.seed + 2)
    while plan.kill_every and not calm.wait(rng.uniform(0.5, 1.5) * plan.kill_every):
        fleet.strike(rng)
