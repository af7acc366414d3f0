"""Everything that can go wrong at once, and what is left of it: nothing lost, nothing doubled, every comment right.

    .venv/bin/python -m bench.chaos [--postgres] [--seed 1] [--deliveries 2000] [--sabotage marker|lease|key] [--calm] …

Web (gunicorn) and worker processes run against the simulated GitHub. They are killed every few seconds while people
open, edit, close, reopen, label, delete and command; deliveries come out of order, at the same time and again; a tenth
of what GitHub answers is wrong; the database is locked, and away or its disk full; the clock jumps; a worker stands
still until the others take it for dead, and goes on; two payloads are poison. Exit code 1 if a delivery is lost, an
issue has two comments, or a comment says what it should not.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from bench.chaos.plan import Plan, Result
from bench.chaos.run import perform
from bot.app.cli.shared.console import progress_bar

SHORT = Plan(
    deliveries=24,
    issues=8,
    owners=2,
    web=1,
    pace=12.0,
    kill_every=0.7,
    calamity=0.7,
    freezes=1,
    frozen=6.5,
    deadly_poison=False,
    drain_within=90.0,
)
BROKEN = replace(
    SHORT,
    deliveries=8,
    issues=5,
    owners=1,
    kill_every=0.0,
    calamity=0.0,
    freezes=0,
    faults=17.0,
    only="reset_after_write",
    sabotage="marker",
)
"""The bot broken on purpose, and GitHub losing every second answer to what it has written: this must be red."""
QUIET = Plan(deliveries=300, issues=60, kill_every=0.0, faults=0.0, calamity=0.0, freezes=0, deadly_poison=False)
SABOTAGES = {
    "marker": BROKEN,
    "lease": replace(QUIET, freezes=6, sabotage="lease"),
    "key": replace(QUIET, deliveries=100, redelivered=0.5, sabotage="key"),
}
"""The bot without what makes a second attempt safe, without the check of its lease, without the key of a delivery."""
CALM = {"kill_every": 0.0, "faults": 0.0, "redelivered": 0.0, "calamity": 0.0, "freezes": 0}
STANDING_STILL = 90.0
"""Seconds that a worker stands still where the bot's own waits are kept, which are longer."""


def main() -> int:
    """Run it with the arguments of the command line and print the figures; the exit code."""
    plan, keep = _plan()
    home = Path(tempfile.mkdtemp(prefix="doppel-chaos-"))
    try:
        with progress_bar("starting", None) as (progress, task):
            result = perform(
                plan, home, lambda what, done, of: progress.update(task, description=what, completed=done, total=of)
            )
    finally:
        if keep:
            print(f"what is left is in {home}", file=sys.stderr)
        else:
            shutil.rmtree(home, ignore_errors=True)
    print(table(plan, result))
    return 0 if result.judgement.well else 1


def _plan() -> tuple[Plan, bool]:
    parser = argparse.ArgumentParser(
        prog="python -m bench.chaos", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1, help="draws what happens; the same seed, the same deeds")
    parser.add_argument("--deliveries", type=int, default=2_000)
    parser.add_argument("--issues", type=int, default=300)
    parser.add_argument("--workers", type=int, help="worker processes (1, with --postgres 3)")
    parser.add_argument("--postgres", action="store_true", help="on a PostgreSQL server that this starts")
    parser.add_argument("--pace", type=float, default=8.0, help="deeds a second")
    parser.add_argument("--kill-every", type=float, default=4.0, help="seconds between two kills; 0: none")
    parser.add_argument("--short", action="store_true", help="the form that the test suite runs")
    parser.add_argument("--calm", action="store_true", help="nothing goes wrong: what the judgement is held against")
    parser.add_argument("--real-waits", action="store_true", help="the bot's own waits, minutes longer to drain")
    parser.add_argument("--sabotage", choices=[*SABOTAGES], default="", help="break the bot on purpose, to see it red")
    parser.add_argument(
        "--disk", type=Path, help="an empty file system of 100 MB or so, which is filled to the last byte"
    )
    parser.add_argument("--keep", action="store_true", help="keep databases and logs")
    given = parser.parse_args()
    if given.sabotage:
        workers = given.workers or (3 if given.postgres else 1)
        plan = replace(SABOTAGES[given.sabotage], seed=given.seed, postgres=given.postgres, workers=workers)
        return plan, given.keep
    plan = SHORT if given.short else Plan(deliveries=given.deliveries, issues=given.issues, pace=given.pace)
    if not given.short:
        plan = replace(plan, kill_every=given.kill_every)
    plan = replace(
        plan,
        seed=given.seed,
        postgres=given.postgres,
        workers=given.workers or (3 if given.postgres else 1),
        short_waits=not given.real_waits,
        disk=given.disk,
        frozen=STANDING_STILL if given.real_waits else plan.frozen,
    )
    return (replace(plan, **CALM) if given.calm else plan), given.keep  # type: ignore[arg-type]


def table(plan: Plan, result: Result) -> str:
    """The figures as people read them, and every problem in a sentence."""
    found = result.judgement
    comments = ", ".join(f"{count} with {said}" for said, count in sorted(found.comments.items()))
    rows = [
        (
            "database",
            f"{'PostgreSQL' if plan.postgres else 'SQLite'}, {plan.workers} worker processes, seed {plan.seed}",
        ),
        ("deliveries", f"{result.deliveries}, and {result.redeliveries} redeliveries"),
        ("accepted for work", str(found.accepted)),
        ("lost", str(len(found.lost))),
        ("doubled", str(len(found.doubled))),
        ("comments of an issue", comments or "none"),
        ("in a wrong state", str(len(found.wrong))),
        ("wrong dead letters", str(len(found.dead))),
        ("kills", ", ".join(f"{name} {count}" for name, count in sorted(result.kills.items())) or "none"),
        ("requests to GitHub", f"{result.requests}, of which went wrong {sum(result.faults.values())}"),
        ("how", ", ".join(f"{name} {count}" for name, count in sorted(result.faults.items()) if count) or "-"),
        ("besides", ", ".join(result.calamities) or "nothing"),
        ("time", f"{result.seconds:.0f} s, of which draining {result.drained_after:.0f} s"),
    ]
    lines = [f"{name:22} {value}" for name, value in rows]
    return "\n".join([*lines, *(f"WRONG: {problem}" for problem in list(found.problems())[:40])])


if __name__ == "__main__":
    sys.exit(main())
