"""An evaluation in a process of its own, which steps back behind all others: a replay takes a processor for minutes,
and issues are answered meanwhile."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from multiprocessing.connection import Connection

from bot.errors import DoppelError, Retryable, UserError
from bot.evaluation.history import PastRecord, rows
from bot.evaluation.report import Evaluation
from bot.feedback.decided import UNDECIDED, Decided
from bot.model import RepoRef

SAMPLE = 1_500
"""Arrivals that are asked about at most: enough for each figure that is shown. All issues arrive all the same, which is
most of the work (docs/research/accuracy.md)."""

_NICE = 10
# As shells put it.
_TOLD_TO_END = 128 + signal.SIGTERM
# Messages for how far it is, at most.
_STEPS = 200


class NothingToJudge(DoppelError):
    """There is no result, and a second try would bring none; the message says why."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """`read` makes the records, in the other process; `bar` is the threshold that is looked at first, and `decided`
    what people decided about pairs of issues."""

    read: Callable[[], Iterable[PastRecord]]
    repo: RepoRef
    bar: float
    decided: Decided = UNDECIDED


def evaluate_apart(wanted: Wanted, tell: Callable[[int, int], None]) -> Evaluation:
    """The evaluation of a repository's history; `tell` hears how many of how many issues have arrived.

    Raises NothingToJudge, DoppelError, without any text of an issue, where the process has failed, and Retryable where
    somebody has ended it: with systemd and on Heroku all processes are told to end, and not the worker alone.
    """
    # A fresh interpreter: nothing of this process, such as an open database, is shared by accident.
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_run, args=(there, wanted), daemon=True)
    process.start()
    there.close()
    try:
        while True:
            match here.recv():
                case Evaluation() as result:
                    return result
                case (int(done), int(total)):
                    tell(done, total)
                case UserError() as reason:
                    raise NothingToJudge(str(reason))
                case str(failure):
                    raise DoppelError(failure)
    except EOFError:
        process.join()
        if process.exitcode in (_TOLD_TO_END, -signal.SIGTERM):
            raise Retryable("the process of the evaluation was told to end") from None
        raise DoppelError(f"the process of the evaluation ended with code {process.exitcode}") from None
    finally:
        here.close()
        process.terminate()
        process.join()


def _run(there: Connection, wanted: Wanted) -> None:
    # Whoever ends the worker with Ctrl-C ends this process through it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What lies in files is put away in the end, also in a sudden one.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(_TOLD_TO_END))
    os.nice(_NICE)
    try:
        there.send(_evaluate(there, wanted))
    except UserError as reason:
        there.send(UserError(str(reason)))
    except BrokenPipeError:
        # The worker has gone; another one will begin anew.
        return
    except Exception as failure:
        # Its kind alone: a foreign exception's text can quote an issue.
        there.send(f"it failed ({type(failure).__name__})")


def _evaluate(there: Connection, wanted: Wanted) -> Evaluation:
    # A replay needs a GitHub of its own, which no worker shall carry about: the simulator, with a web server's parts.
    from bot.evaluation.labels import WARM
    from bot.evaluation.trial import Trial, as_the_bot_asks

    made = rows(wanted.read(), wanted.repo)
    placed = [(row, f"{wanted.repo}#{row['id']}") for row in made]
    trial = Trial.of(placed, warm=WARM, sample=SAMPLE, seed=0, decided=wanted.decided)
    total = len(trial.issues)
    every, done = max(1, total // _STEPS), 0

    def advance() -> None:
        nonlocal done
        done += 1
        if done % every == 0:
            there.send((done, total))

    return trial.judge(trial.ask(as_the_bot_asks(), 1, advance), wanted.bar)
