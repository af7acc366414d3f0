"""One chaos run: a simulated GitHub, web and workers as processes, and all that can go wrong at once."""

from __future__ import annotations

import os
import random
import socket
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import sqlalchemy as sa

from bench.chaos import worker
from bench.chaos.databases import Database, database
from bench.chaos.fleet import Fleet
from bench.chaos.judge import ADVICE, Deliveries, Judgement, Seen, judge
from bench.chaos.story import QUIET, Deed, Story, Tale
from bot import settings as host
from bot.index.backfill import Backfills
from bot.jobs import DeadLetters
from bot.jobs.database import queue_engine, workflow_table
from bot.settings import VARIABLES
from bot.simulator import Server, start_simulator
from bot.simulator.faults import Faults
from bot.simulator.state.issues import Comment
from bot.store.engine import make_engine

BOT = "doppel[bot]"
UNFINISHED = ("ENQUEUED", "PENDING", "DELAYED")

FAULTS: tuple[tuple[str, str | int, float, dict[str, object]], ...] = (
    ("POST /repos/*", "timeout_after_write", 0.03, {}),
    ("POST /repos/*", "reset_after_write", 0.03, {}),
    ("PATCH /repos/*", "timeout_after_write", 0.03, {}),
    ("*", 502, 0.02, {}),
    ("*", 500, 0.01, {}),
    ("*", 503, 0.01, {"retry_after": 1}),
    ("*", "reset", 0.015, {}),
    ("*", "timeout", 0.005, {}),
    ("*", "malformed", 0.015, {}),
    ("*", "secondary_limit", 0.015, {"retry_after": 1}),
    ("*", "secondary_limit", 0.005, {"retry_after": 1, "code": 429}),
)
"""Path, kind and chance of what GitHub does wrong: about a tenth of all requests."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to happen. `pace` is deeds a second, `kill_every` and `calamity` are seconds (0: none).

    `faults` is how much more often than usual GitHub errs (0: never), and `only` the one way in which it does.
    """

    seed: int = 1
    deliveries: int = 2_000
    issues: int = 300
    owners: int = 8
    workers: int = 1
    postgres: bool = False
    pace: float = 8.0
    kill_every: float = 4.0
    faults: float = 1.0
    only: str = ""
    redelivered: float = 0.05
    calamity: float = 8.0
    deadly_poison: bool = True
    short_waits: bool = True
    sabotage: str = ""
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


class Run:
    """The parts of one run; `tell` is told each step with how far it is."""

    def __init__(
        self, plan: Plan, home: Path, server: Server, base: Database, tell: Callable[[str, int, int], None]
    ) -> None:
        self.plan, self.home, self.server, self.base, self.tell = plan, home, server, base, tell
        self.sim = server.sim
        self.rng = random.Random(plan.seed)
        self.story = Story(plan.seed, plan.issues, plan.deliveries)
        self.tales = [Tale() for _ in self.story.names]
        self.numbers: dict[int, int] = {}
        self.originals: dict[int, tuple[int, int]] = {}
        self.asked: defaultdict[int, set[int]] = defaultdict(set)
        self.poisonous = [plan.issues, plan.issues + 1] if plan.deadly_poison else [plan.issues]
        self.environ = _environ(plan, home, server, base)
        self.settings = host.load(self.environ, home / ".env")
        self.calamities: list[str] = []
        self._serial = 0

    def repo(self, issue: int) -> str:
        """The repository in which an issue of the story is."""
        return f"acme-{issue % self.plan.owners}/app"

    def seed_originals(self) -> None:
        """Repositories with the earlier reports of each issue, long ago."""
        rows: defaultdict[str, list[dict[str, object]]] = defaultdict(list)
        long_ago = datetime.now(UTC) - timedelta(days=100)
        for issue in range(len(self.story.names)):
            for about in range(2):
                when = long_ago + timedelta(minutes=2 * issue + about)
                rows[self.repo(issue)].append(
                    {
                        "id": f"{issue}-{about}",
                        "title": self.story.title(issue, about),
                        "body": self.story.body(issue, about),
                        "author": f"early-{issue}",
                        "created_at": when.isoformat(),
                    }
                )
        for repo, issues in rows.items():
            self.sim.add_repository(repo)
            self.sim.write_file(repo, ".github/doppel.yml", f"search: {{hybrid: off}}\nignore: {{labels: [{QUIET}]}}\n")
            self.sim.set_permission(repo, "admin-person", "admin")
            self.sim.install(repo)
            self.sim.load_issues(issues, repo)
            for number, row in enumerate(issues, 1):
                issue = int(str(row["id"]).partition("-")[0])
                self.originals[issue] = (*self.originals.get(issue, ()), number)  # type: ignore[assignment]
        with self.sim.lock:
            self.sim.flush_index()

    def indexed(self) -> bool:
        """Whether the bot has read all repositories."""
        engine = make_engine(self.settings.database_url, pool_size=1)
        try:
            backfills = Backfills(engine)
            return all((one := backfills.get(repo)) is not None and one.done for repo in self.sim.repositories)
        except sa.exc.SQLAlchemyError:
            return False
        finally:
            engine.dispose()

    def do(self, deed: Deed) -> None:
        """Let one thing happen on GitHub."""
        repo, issue, number = self.repo(deed.issue), deed.issue, self.numbers.get(deed.issue, 0)
        self._serial += 1
        match deed.kind:
            case "open":
                self.open(issue, deed.about, f"reporter-{issue}")
            case "edit":
                title, body = self.story.title(issue, deed.about), self.story.body(issue, deed.about, self._serial)
                self.sim.edit_issue(repo, number, title=title + "!", body=body)
            case "close":
                self.sim.close_issue(repo, number, "admin-person")
            case "reopen":
                self.sim.reopen_issue(repo, number, "admin-person")
            case "label":
                self.sim.add_labels(repo, number, QUIET)
            case "unlabel":
                self.sim.remove_label(repo, number, QUIET)
            case "delete":
                self.sim.delete_issue(repo, number)
            case "sweep":
                if (own := self.advice(issue)) is None:
                    return
                self.sim.delete_comment(own, "admin-person")
                self.tales[issue].swept = True
            case "help" | "recheck" | "reject":
                target = f"not #{self.originals[issue][deed.about]}" if deed.kind == "reject" else deed.kind
                words = f"/duplicates {'' if deed.kind == 'recheck' else target}".strip()
                who = f"reporter-{issue}" if deed.kind == "reject" else f"visitor-{self._serial}"
                comment = self.sim.comment(repo, number, who, words)
                if deed.kind != "recheck":
                    self.asked[issue].add(comment.id)
        self.tales[issue].take(deed)

    def open(self, issue: int, about: int, author: str) -> None:
        """An issue of the story appears."""
        title, body = self.story.title(issue, about), self.story.body(issue, about, 1)
        self.numbers[issue] = self.sim.open_issue(self.repo(issue), author, title + "!", body).number

    def advice(self, issue: int) -> Comment | None:
        """The bot's comment on an issue, if it is there."""
        there = self.sim.comments(self.repo(issue), self.numbers[issue])
        return next((one for one in there if one.author.login == BOT and one.body.startswith(ADVICE)), None)

    def events(self) -> dict[str, bool]:
        """The deliveries so far, by GUID: whether each was taken at least once."""
        taken: dict[str, bool] = {}
        for one in list(self.sim.webhooks.log):
            taken[one.guid] = taken.get(one.guid, False) or one.status == "OK"
        return taken

    def unfinished(self) -> int:
        """How many jobs are still to be done, but chores and indexing; very many while the database is away."""
        engine = queue_engine(self.settings, pool_size=1)
        table = workflow_table(engine)
        try:
            with engine.connect() as connection:
                waiting = sa.select(sa.func.count()).where(
                    table.c.status.in_(UNFINISHED),
                    table.c.queue_name == "events",
                    sa.not_(table.c.workflow_uuid.like("chore:%")),
                )
                return int(connection.execute(waiting).scalar_one())
        except sa.exc.SQLAlchemyError:
            return sys.maxsize
        finally:
            engine.dispose()

    def drained(self) -> bool:
        """Whether every event was taken and every job is done."""
        self.sim.webhooks.join(120)
        return all(self.events().values()) and self.unfinished() == 0

    def runs(self) -> dict[str, list[str]]:
        """The status of each run in the queue, by delivery."""
        engine = queue_engine(self.settings, pool_size=1)
        table = workflow_table(engine)
        found: defaultdict[str, list[str]] = defaultdict(list)
        with engine.connect() as connection:
            for key, status in connection.execute(sa.select(table.c.workflow_uuid, table.c.status)):
                found[key.partition("~")[0]].append(status)
        engine.dispose()
        return dict(found)

    def seen(self) -> Iterator[Seen]:
        """All issues of the story, as they are in the end."""
        engine = make_engine(self.settings.database_url, pool_size=1)
        names = [name for name in ("comments", "issues", "index_issues") if sa.inspect(engine).has_table(name)]
        for issue, number in sorted(self.numbers.items()):
            repository = self.sim.repo(self.repo(issue))
            said: tuple[str, ...] = ()
            if not self.tales[issue].deleted:
                there = self.sim.comments(repository, number)
                said = tuple(one.body for one in there if one.author.login == BOT)
            with engine.connect() as connection:
                kept = sum(
                    connection.execute(
                        sa.text(f"SELECT count(*) FROM {name} WHERE repo_id = :repo AND number = :number"),
                        {"repo": repository.id, "number": number},
                    ).scalar_one()
                    for name in names
                )
            name = f"{repository.full_name}#{number}"
            asked = frozenset(self.asked[issue])
            yield Seen(name, self.tales[issue], self.originals[issue], said, asked, kept)
        engine.dispose()


def perform(plan: Plan, home: Path, tell: Callable[[str, int, int], None] = lambda *_: None) -> Result:
    """Let it all happen, wait until it is over, and judge what is left."""
    with (
        start_simulator(webhook_secret="a-secret", validate=False) as server,
        database(home, plan.postgres) as base,
        (home / "processes.log").open("wb") as log,
    ):
        run = Run(plan, home, server, base, tell)
        run.seed_originals()
        fleet = Fleet(run.environ, plan.workers, log)
        with _tended(fleet):
            _wait("web and worker", fleet.ready, 60)
            _wait("the index", run.indexed, 120)
            return _perform(run, fleet)


def _perform(run: Run, fleet: Fleet) -> Result:
    plan, sim = run.plan, run.sim
    sim.app.hook.url = fleet.receiver
    holding = random.Random(plan.seed + 1)
    sim.webhooks.senders, sim.webhooks.hold = 8, lambda: holding.expovariate(4.0)
    weather = _Weather(sim.faults, plan)
    began = time.monotonic()
    calm = threading.Event()
    striking = threading.Thread(target=_strike, args=(plan, fleet, calm), daemon=True)
    striking.start()
    calamities = _calamities(run, fleet)
    _play(run, calamities)
    calm.set()
    striking.join()
    for one in calamities.values():
        one()
    played = time.monotonic()
    total = max(1, run.unfinished())

    def drained() -> bool:
        left = run.unfinished()
        run.tell("draining", total - min(total, left), total)
        # What GitHub does wrong goes on until half of what was left is done.
        if left <= total / 2 or time.monotonic() > played + plan.drain_within / 2:
            weather.clear()
        return run.drained()

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
        within = _wait("retrying", run.drained, 60, every=0.25, must=False) and within
    judgement = judge(run.seen(), found)
    if not within:
        judgement.lost.append("the queue was not drained in time")
    if poison and (left := letters.list()):
        judgement.dead.append(f"{len(left)} dead letters are left after they were tried again")
    letters.close()
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


def _play(run: Run, calamities: dict[float, Callable[[], None]]) -> None:
    deeds = run.story.deeds
    sim, rng = run.sim, run.rng
    for turn, deed in enumerate(deeds):
        run.tell("acting", turn, len(deeds))
        for share in [share for share in calamities if turn >= share * len(deeds)]:
            calamities.pop(share)()
        run.do(deed)
        sent = [one for one in sim.webhooks.log if one.status != "pending"]
        if sent and rng.random() < run.plan.redelivered:
            sim.webhooks.redeliver(rng.choice(sent))
        time.sleep(rng.expovariate(run.plan.pace))


def _calamities(run: Run, fleet: Fleet) -> dict[float, Callable[[], None]]:
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
        if not run.base.gone(seconds):
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
        0.45: aside("database gone" if run.plan.postgres else "disk full", away),
        0.65: clock(3600.0),
        0.75: clock(-7200.0),
        0.85: clock(0.0),
    }


def _strike(plan: Plan, fleet: Fleet, calm: threading.Event) -> None:
    rng = random.Random(plan.seed + 2)
    while plan.kill_every and not calm.wait(rng.uniform(0.5, 1.5) * plan.kill_every):
        fleet.strike(rng)


class _Weather:
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


def _poison(run: Run) -> frozenset[str]:
    """The deliveries that must be dead letters."""
    authors = (worker.RAISES, worker.KILLS)
    return frozenset(
        one.guid
        for one in run.sim.webhooks.log
        if one.event == "issues" and one.payload["issue"]["user"]["login"] in authors
    )


def _deliveries(run: Run, dead: frozenset[str], poison: frozenset[str]) -> Deliveries:
    queued: Counter[str] = Counter()
    for one in run.sim.webhooks.log:
        # Whether it was new or known is in the answer; an answer that a kill has swallowed leaves only the queue's row.
        queued[one.guid] += '"queued"' in one.response_body
    runs = run.runs()
    queued = Counter({guid: times for guid, times in queued.items() if times or guid in runs})
    never = frozenset(guid for guid, taken in run.events().items() if not taken)
    return Deliveries(queued, runs, never, dead, poison)


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


def _environ(plan: Plan, home: Path, server: Server, base: Database) -> dict[str, str]:
    key = home / "key.pem"
    key.touch(mode=0o600)
    key.write_text(server.private_key_pem)
    ours = {variable.name for variable in VARIABLES}
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    return {name: value for name, value in os.environ.items() if name not in ours} | {
        "APP_ID": str(server.app_id),
        "PRIVATE_KEY_PATH": str(key),
        "WEBHOOK_SECRET": server.webhook_secret,
        "GITHUB_API_URL": server.url,
        "DATABASE_URL": base.url,
        "DOPPEL_HOME": str(home),
        "PORT": str(port),
        "WEB_CONCURRENCY": "2",
        "LOG_LEVEL": "INFO",
        worker.SHORT: "1" if plan.short_waits else "",
        worker.CLOCK: str(home / "clock"),
        worker.POISON: str(home / "poison"),
        worker.SABOTAGE: plan.sabotage,
    }
