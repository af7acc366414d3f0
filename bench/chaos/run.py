"""One chaos run: a simulated GitHub, web and workers as processes, and all that can go wrong at once."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from bench.chaos import worker
from bench.chaos.databases import database
from bench.chaos.fleet import Fleet
from bench.chaos.freezes import Freezes
from bench.chaos.judge import Deliveries, judge
from bench.chaos.mishaps import Weather, calamities, strike
from bench.chaos.plan import Plan, Result
from bench.chaos.world import World
from bot.deliveries.dead_letters import DeadLetters
from bot.simulator import start_simulator


def perform(plan: Plan, home: Path, tell: Callable[[str, int, int], None] = lambda *_: None) -> Result:
    """Let it all happen, wait until it is over, and judge what is left."""
    with (
        start_simulator(webhook_secret="a-secret", validate=False) as server,
        database(plan.disk or home, plan.postgres) as base,
        (home / "processes.log").open("wb") as log,
    ):
        run = World(plan, home, server, base, tell)
        run.seed_originals()
        fleet = Fleet(run.environ, plan.workers, log)
        with _tended(fleet):
            _wait("web and worker", fleet.ready, 60)
            _wait("the index", run.indexed, 120)
            return _perform(run, fleet)


def _perform(run: World, fleet: Fleet) -> Result:
    plan, sim = run.plan, run.sim
    sim.app.hook.url = fleet.receiver
    holding = random.Random(plan.seed + 1)
    sim.webhooks.senders, sim.webhooks.hold = 8, lambda: holding.expovariate(4.0)
    weather = Weather(sim.faults, plan)
    began = time.monotonic()
    calm = threading.Event()
    striking = threading.Thread(target=strike, args=(plan, fleet, calm), daemon=True)
    striking.start()
    freezes = Freezes(run, fleet)
    blows = calamities(run, fleet) | freezes.blows()
    _play(run, blows)
    calm.set()
    striking.join()
    for one in blows.values():
        one()
    played = time.monotonic()
    total = 0

    def drained() -> bool:
        nonlocal total
        if (left := run.left()) is None:
            return False
        total = max(total, left)
        run.tell("draining", total - left, max(1, total))
        # What GitHub does wrong goes on until half of what was left is done.
        if left <= total / 2 or time.monotonic() > played + plan.drain_within / 2:
            weather.clear()
        # Whoever stood still may yet do something that is wrong by now.
        return freezes.over and run.drained()

    within = _wait("draining", drained, plan.drain_within, every=0.25, must=False)
    drained_after = time.monotonic() - played
    letters = DeadLetters(run.settings)
    dead = frozenset(one.delivery_id for one in letters.list(10_000))
    poison = _poison(run)
    found = _deliveries(run, dead, poison)
    if poison:
        # Somebody mends what was wrong, and has what was given up tried again.
        (run.home / "poison").unlink()
        for guid in dead:
            letters.retry(guid)
    # The bot's last comment is a delivery too, which may have been refused meanwhile and is sent again.
    within = _wait("retrying", run.drained, 60, every=0.25, must=False) and within
    found = replace(found, never_taken=frozenset(guid for guid, taken in run.events().items() if not taken))
    judgement = judge(run.seen(), found)
    if not within:
        judgement.lost.append("the queue was not drained in time")
    if poison and (left := letters.list()):
        judgement.dead.append(f"{len(left)} dead letters are left after they were tried again")
    letters.close()
    judgement.doubled.extend(run.unfenced_writes)
    judgement.wrong.extend(f"the bot asked what GitHub does not have: {one}" for one in sim.unknown_requests[:3])
    return Result(
        judgement,
        deliveries=len({one.guid for one in sim.webhooks.log}),
        redeliveries=sum(one.redelivery for one in sim.webhooks.log),
        kills=fleet.kills,
        requests=weather.requests,
        faults=weather.hits(),
        calamities=run.calamities,
        seconds=time.monotonic() - began,
        drained_after=drained_after,
    )


def _play(run: World, blows: dict[float, Callable[[], None]]) -> None:
    deeds = run.story.deeds
    sim, rng = run.sim, run.rng
    for turn, deed in enumerate(deeds):
        run.tell("acting", turn, len(deeds))
        for share in [share for share in blows if turn >= share * len(deeds)]:
            blows.pop(share)()
        run.do(deed)
        sent = [one for one in sim.webhooks.log if one.status != "pending"]
        if sent and rng.random() < run.plan.redelivered:
            sim.webhooks.redeliver(rng.choice(sent))
        time.sleep(rng.expovariate(run.plan.pace))


def _poison(run: World) -> frozenset[str]:
    """The deliveries that must be dead letters."""
    authors = (worker.RAISES, worker.KILLS)
    return frozenset(
        one.guid
        for one in run.sim.webhooks.log
        if one.event == "issues" and one.payload["issue"]["user"]["login"] in authors
    )


def _deliveries(run: World, dead: frozenset[str], poison: frozenset[str]) -> Deliveries:
    queued: Counter[str] = Counter()
    for one in run.sim.webhooks.log:
        # Whether it was new or known is in the answer; an answer that a kill has swallowed leaves only the queue's row.
        queued[one.guid] += '"queued"' in one.response_body
    runs = run.runs()
    queued = Counter({guid: times for guid, times in queued.items() if times or guid in runs})
    return Deliveries(queued, runs, dead=dead, poison=poison)


@contextmanager
def _tended(fleet: Fleet) -> Iterator[None]:
    over = threading.Event()

    def tend() -> None:
        while not over.wait(0.2):
            fleet.tend()

    thread = threading.Thread(target=tend, name="tending", daemon=True)
    fleet.tend()
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        fleet.stop()


def _wait(what: str, happened: Callable[[], bool], within: float, *, every: float = 0.1, must: bool = True) -> bool:
    end = time.monotonic() + within
    while not happened():
        if time.monotonic() > end:
            if must:
                raise SystemExit(f"{what}: not within {within:.0f} s")
            return False
        time.sleep(every)
    return True
