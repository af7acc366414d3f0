"""The world of a chaos run: a simulated GitHub with people in it, and what the bot's databases say of it."""

from __future__ import annotations

import os
import random
import socket
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import sqlalchemy as sa

from bench.chaos import worker
from bench.chaos.databases import Database
from bench.chaos.judge import ADVICE, Seen
from bench.chaos.plan import Plan
from bench.chaos.story import QUIET, Deed, Story, Tale
from bot.deliveries.database import QUEUE, SCHEDULE, WORKERS, jobs, queue_engine, state
from bot.platform import settings as host
from bot.platform.settings import VARIABLES
from bot.simulator import Server
from bot.simulator.state.issues import Comment
from bot.storage.engine import make_engine
from bot.storage.repositories import Backfills

BOT = "doppel[bot]"


class World:
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
        self.unfenced_writes: list[str] = []
        self._serial = 0
        if plan.sabotage == "key":
            self._take_out_unique_key()

    def _take_out_unique_key(self) -> None:
        """Make the queue's table before the bot does, without the key by which a redelivery is known."""
        table, engine = jobs.to_metadata(sa.MetaData()), queue_engine(self.settings, pool_size=1)
        table.constraints -= {one for one in table.constraints if isinstance(one, sa.UniqueConstraint)}
        table.create(engine)
        engine.dispose()

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
            # Made-up words that only sound alike stay below .03; the same words are above .4.
            settings = f"min_confidence: 0.25\nsearch: {{hybrid: off}}\nignore: {{labels: [{QUIET}]}}\n"
            self.sim.write_file(repo, ".github/doppel.yml", settings)
            self.sim.set_permission(repo, "admin-person", "admin")
            self.sim.set_permission(repo, "triager", "triage")
            self.sim.install(repo)
            self.sim.load_issues(issues, repo)
            for number, row in enumerate(issues, 1):
                issue = int(str(row["id"]).partition("-")[0])
                self.originals[issue] = (*self.originals.get(issue, ()), number)
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
                who = f"reporter-{issue}" if deed.kind == "reject" else "triager"
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

    def left(self) -> int | None:
        """How many events are to be taken and jobs to be done, without chores and indexing; None: it cannot be told.

        Those to be taken first: what is taken meanwhile counts twice and not never.
        """
        untaken = sum(not taken for taken in self.events().values())
        engine = queue_engine(self.settings, pool_size=1)
        try:
            with engine.connect() as connection:
                waiting = sa.select(sa.func.count()).where(state("waiting", "running"), jobs.c.queue == QUEUE)
                return untaken + int(connection.execute(waiting).scalar_one())
        except sa.exc.SQLAlchemyError:
            # The database is away.
            return None
        finally:
            engine.dispose()

    def drained(self) -> bool:
        """Whether every event was taken and every job is done."""
        self.sim.webhooks.join(120)
        # The last comment of a job that ends meanwhile is an event, too.
        before = self.events()
        return self.left() == 0 and self.events() == before

    def runs(self) -> dict[str, list[str]]:
        """The state of each delivery in the queue."""
        engine = queue_engine(self.settings, pool_size=1)
        query = sa.select(jobs.c.id, jobs.c.state).where(jobs.c.queue.not_in([SCHEDULE, WORKERS]))
        with engine.connect() as connection:
            found = {id: [state] for id, state in connection.execute(query)}
        engine.dispose()
        return found

    def seen(self) -> Iterator[Seen]:
        """All issues of the story, as they are in the end."""
        engine = make_engine(self.settings.database_url, pool_size=1)
        names = [name for name in ("comments", "decisions", "indexed_issues") if sa.inspect(engine).has_table(name)]
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
        "DOPPEL_HOME": str(plan.disk or home),
        "PORT": str(port),
        "WEB_CONCURRENCY": str(plan.web),
        "LOG_LEVEL": "INFO",
        worker.SHORT: "1" if plan.short_waits else "",
        worker.CLOCK: str(home / "clock"),
        worker.POISON: str(home / "poison"),
        worker.WRITES: str(home / "writes"),
        worker.SABOTAGE: plan.sabotage,
    }
