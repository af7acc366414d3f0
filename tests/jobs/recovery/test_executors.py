"""Who is dead: by its process on the same machine, by its heartbeat everywhere."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.events import PushEvent
from bot.jobs import Inbox
from bot.jobs.queue.database import executors, prepare, queue_engine, workflow_table
from bot.jobs.recovery import executors as executor_module
from bot.jobs.recovery.executors import DEAD_AFTER, Executor, Watch, beat, find_dead, leave, this_process
from bot.model import Actor, RepoRef, Repository
from bot.settings import Settings

ME = this_process()


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def queue(
    request: pytest.FixtureRequest, new_store: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[sa.Engine]:
    """A queue in which this process, `there`, `here` and `unheard-of` each hold a job."""
    settings = Settings(home=tmp_path_factory.mktemp("home"), database_url=new_store(request.param))
    engine = queue_engine(settings)
    prepare(engine)
    inbox = Inbox(settings)
    workflows = workflow_table(engine)
    for name in (ME.id, "there", "here", "unheard-of"):
        repository = Repository(5, RepoRef("acme", "app"), private=False)
        inbox.put(name, PushEvent(1, repository, Actor("ann"), settings=True, templates=False))
        held = workflows.update().where(workflows.c.workflow_uuid == name)
        with engine.begin() as connection:
            connection.execute(held.values(status="PENDING", executor_id=name))
    inbox.close()
    yield engine
    engine.dispose()


@pytest.fixture
def engine(queue: sa.Engine) -> sa.Engine:
    """The queue, where only this process has a heartbeat."""
    with queue.begin() as connection:
        connection.execute(sa.delete(executors))
    beat(queue, ME)
    return queue


def ended_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def age(engine: sa.Engine, executor_id: str, seconds: float) -> None:
    older = executors.update().where(executors.c.executor_id == executor_id)
    with engine.begin() as connection:
        connection.execute(older.values(beat_at=executors.c.beat_at - seconds))


def known(engine: sa.Engine) -> set[str]:
    with engine.connect() as connection:
        return set(connection.execute(sa.select(executors.c.executor_id)).scalars())


def test_no_two_starts_are_the_same_executor() -> None:
    assert this_process().id != this_process().id
    assert this_process().pid == os.getpid()


def test_machines_of_one_name_are_told_apart(tmp_path: Path) -> None:
    hosts = []
    for place, (boot, namespace) in enumerate([("a", "pid:[1]"), ("b", "pid:[1]"), ("a", "pid:[2]"), ("a", "pid:[1]")]):
        proc = tmp_path / str(place)
        (proc / "self/ns").mkdir(parents=True)
        (proc / "self/ns/pid").symlink_to(namespace)
        (proc / "sys/kernel/random").mkdir(parents=True)
        (proc / "sys/kernel/random/boot_id").write_text(f"{boot}\n")
        hosts.append(executor_module._host(proc))
    assert len(set(hosts)) == 3
    assert hosts[0] == hosts[3]
    assert executor_module._host(tmp_path / "no Linux") == f"{socket.gethostname()}//"


def test_who_beats_is_alive_wherever_it_is(engine: sa.Engine) -> None:
    beat(engine, Executor("there", "another machine", 1))
    beat(engine, Executor("here", ME.host, os.getppid()))
    assert find_dead(engine, ME, Watch()) == ["unheard-of"]


def test_on_this_machine_an_ended_process_is_dead_at_once(engine: sa.Engine) -> None:
    pid = ended_pid()
    beat(engine, Executor("here", ME.host, pid))
    beat(engine, Executor("there", "another machine", pid))
    assert find_dead(engine, ME, Watch()) == ["here", "unheard-of"]


def test_a_killed_process_that_its_parent_has_not_noticed_is_dead(engine: sa.Engine) -> None:
    process = subprocess.Popen([sys.executable, "-c", "print()"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.read()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    beat(engine, Executor("here", ME.host, process.pid))
    beat(engine, Executor("there", "another machine", 1))
    assert find_dead(engine, ME, Watch()) == ["here", "unheard-of"]
    process.communicate()


def test_elsewhere_who_stops_beating_is_dead_but_never_oneself(engine: sa.Engine) -> None:
    beat(engine, Executor("there", "another machine", 1))
    beat(engine, Executor("here", ME.host, os.getpid()))
    moment = [0.0]
    watch = Watch(lambda: moment[0])
    assert find_dead(engine, ME, watch) == ["unheard-of"]
    for moment[0] in (DEAD_AFTER - 5, DEAD_AFTER + 1):
        beat(engine, Executor("here", ME.host, os.getpid()))
        dead = ["there", "unheard-of"] if moment[0] > DEAD_AFTER else ["unheard-of"]
        assert find_dead(engine, ME, watch) == dead
    beat(engine, Executor("there", "another machine", 1))
    assert find_dead(engine, ME, watch) == ["unheard-of"]
    moment[0] += DEAD_AFTER + 1
    watch.forget()
    assert find_dead(engine, ME, watch) == ["unheard-of"], "nobody could be seen beating"


def test_a_clock_that_jumps_kills_nobody(engine: sa.Engine) -> None:
    beat(engine, Executor("there", "another machine", 1))
    beat(engine, Executor("here", ME.host, os.getpid()))
    watch = Watch()
    for jump in (0, 3600, -7200):
        age(engine, "there", jump)
        assert find_dead(engine, ME, watch) == ["unheard-of"]


def test_who_has_left_holds_nothing_and_the_dead_are_forgotten(engine: sa.Engine) -> None:
    there, idle = Executor("there", "another machine", 1), Executor("idle", ME.host, ended_pid())
    beat(engine, there)
    beat(engine, idle)
    beat(engine, Executor("here", ME.host, os.getpid()))
    leave(engine, there)
    assert find_dead(engine, ME, Watch()) == ["there", "unheard-of"]
    assert known(engine) == {ME.id, "here"}
